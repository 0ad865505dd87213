package ongpu

import "mpbench/pkg/gpu"

// LaunchSums launches only the sums of products, without finishing the rows, and LaunchFinish only what finishes them; the shape must be
// Separate.
func (p *Product) LaunchSums(s *gpu.Stream) error {
	l := p.launch
	l.Stream = s
	return p.kernel.Launch(l, p.parameters)
}

// LaunchFinish is described at LaunchSums.
func (p *Product) LaunchFinish(s *gpu.Stream) error {
	l := p.finishLaunch
	l.Stream = s
	return p.finish.Launch(l, p.finishParameters)
}
