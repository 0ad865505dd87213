package gpu

// LoadText compiles a PTX text.
func LoadText(d *Device, name, ptx string) (*Module, error) { return d.load(name, ptx) }

// Early tells whether the module's kernels may begin early.
func Early(m *Module) bool { return m.early }
