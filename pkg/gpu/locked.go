package gpu

import (
	"fmt"
	"sync"
	"unsafe"
)

// Locked is memory of the host whose pages are locked where they are: devices copy from it directly, as from [Pinned]
// memory, without a copy of it.
type Locked struct {
	device *Device
	region region
}

type region struct {
	from  unsafe.Pointer
	bytes uint64
}

// locks counts who uses what is locked, as the driver locks nothing twice.
var locks = struct {
	sync.Mutex
	users map[region]int
}{users: make(map[region]int)}

// forAllDevices is the driver's CU_MEMHOSTREGISTER_PORTABLE.
const forAllDevices = 1

// Lock locks the pages of x, which all devices then copy from. Errors are the driver's: of limits on locked memory,
// and of memory that is locked in part.
func Lock[T any](d *Device, x []T) (*Locked, error) {
	l := &Locked{d, region{unsafe.Pointer(unsafe.SliceData(x)), uint64(len(x)) * uint64(sizeOf[T]())}}
	if l.region.bytes == 0 {
		return l, nil
	}
	locks.Lock()
	defer locks.Unlock()
	if locks.users[l.region] == 0 {
		code := d.driver.MemHostRegister(l.region.from, l.region.bytes, forAllDevices)
		if err := d.callNote("cuMemHostRegister", code, fmt.Sprintf("%d bytes", l.region.bytes)); err != nil {
			return nil, err
		}
	}
	locks.users[l.region]++
	return l, nil
}

// Free unlocks the pages, if nobody else has locked them; freeing again, or a nil one, does nothing.
func (l *Locked) Free() {
	if l == nil || l.region.bytes == 0 {
		return
	}
	locks.Lock()
	defer locks.Unlock()
	if locks.users[l.region]--; locks.users[l.region] == 0 {
		delete(locks.users, l.region)
		l.device.driver.MemHostUnregister(l.region.from)
	}
	l.region.bytes = 0
}
