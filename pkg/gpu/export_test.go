package gpu

// LoadText compiles a PTX text.
func LoadText(d *Device, name, ptx string) (*Module, error) { return d.load(name, ptx) }
