package ongpu

// Parts of a launch, to be timed.
var (
	LaunchSums   = (*Product).launchSums
	LaunchFinish = (*Product).launchFinish
)
