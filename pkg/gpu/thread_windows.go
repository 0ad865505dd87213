package gpu

import "golang.org/x/sys/windows"

// threadID returns the operating system's number of the calling thread.
func threadID() int64 { return int64(windows.GetCurrentThreadId()) }
