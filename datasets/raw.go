package datasets

import (
	"io"
	"regexp"
	"strconv"
	"strings"
)

// rawPart is how the numbers of a file without a header are told: their type, little-endian unless > is before it, and
// the byte that they begin at: "f8", ">f4@512".
var rawPart = regexp.MustCompile(`^[<>|]?[fiu][1248](@[0-9]{1,18})?$`)

// RawTypes lists the types that numbers without a header may have; > before them is for big-endian ones.
func RawTypes() []string { return strings.Fields(dtypes) }

// RawName returns the name of a file that is read as numbers of a type, as "<f8" or "f8", from a byte on.
func RawName(path, dtype string, offset int64) (string, error) {
	part := dtype + "@" + strconv.FormatInt(offset, 10)
	if _, _, ok := parseRaw(part); !ok {
		return "", usagef("dtype %s is not supported %s", quote(dtype), wantDtypes)
	}
	return path + ":" + part, nil
}

// parseRaw reads the part of a name that tells how numbers without a header are stored.
func parseRaw(part string) (d npyDtype, offset int64, ok bool) {
	if !rawPart.MatchString(part) {
		return d, 0, false
	}
	descr, at, _ := strings.Cut(part, "@")
	if len(descr) == 2 {
		descr = "<" + descr
	}
	if descr[2] == '1' {
		descr = "|" + descr[1:]
	}
	d, ok = parseDtype(descr)
	if at != "" {
		offset, _ = strconv.ParseInt(at, 10, 64) // at most 18 digits
	}
	return d, offset, ok
}

// readRawLayout finds the type of the n numbers of a file without a header, and the byte that they begin at.
func readRawLayout(f *file) (dtype npyDtype, start, n int64, err error) {
	dtype, start, ok := parseRaw(f.part)
	width := int64(dtype.width)
	switch {
	case !ok:
		return dtype, 0, 0, f.errorf("dtype %s is not supported %s", quote(f.part), wantDtypes)
	case start >= f.size:
		return dtype, 0, 0, f.errorf("holds no numbers from byte %d on; it has %d bytes", start, f.size)
	case (f.size-start)%width != 0:
		return dtype, 0, 0, f.errorf("has %d bytes from byte %d on, which are not a whole number of %s", f.size-start,
			start, dtype.name())
	}
	return dtype, start, (f.size - start) / width, nil
}

// readRaw reads numbers without a header.
func readRaw(f *file) (content, error) {
	dtype, start, n, err := readRawLayout(f)
	if err != nil {
		return content{}, err
	}
	if _, err := io.CopyN(io.Discard, f, start); err != nil {
		return content{}, f.errorf("%s", plainError(err))
	}
	return readNumbers(f, dtype, n, dtype.String()+", without a header")
}
