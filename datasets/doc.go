// Package datasets holds the named data sets that methods are measured on, and reads data from files.
//
// The sets of a [Family] have the same arrays: a vector, a pair of vectors, a matrix with two vectors. A set is
// written as a spec, "name" or "name:key=value,...", with the parameters that it declares ([Set]) and two that every
// set understands: n, the number of terms or columns, and seed. [Family.Parse] checks a spec, [Generate] makes its
// numbers. Every set is a pure function of its parameters: the same spec gives the same bits on every platform and
// with every compiler setting, and [Data] carries the SHA-256 of those bits. [Data.Problem] makes them what an
// operation computes.
//
// # How the terms stay the same everywhere
//
// Random numbers are made from the integer output of a PCG generator (math/rand/v2) and nothing else: a uniform number
// is Uint64()>>11 * 2^-53. The generator is seeded with the user's seed and a hash of the set's name. Logarithms,
// exponentials, sines and cosines are computed here in double-double arithmetic and rounded once, because those of
// package math differ between platforms. Products that are added to something are wrapped in float64(...), which
// forbids the compiler to fuse them.
//
// # Files
//
// [Load] reads .npy, .npz, .parquet, .txt, .csv, .mtx, compressed ones (.gz, .zst), and numbers without a header, of
// files with parts one of them ([SplitPart]); a pattern or a list of names stands for several files ([Expand]).
// [OpenStream] leaves the numbers in the files. In text, a number may be
// wider than float64:
//
//   - a decimal of at most 17 significant digits is read as the nearest float64 under the reading [Double], which is
//     the default, and kept exactly, as the decimal it is, under [Exact];
//   - a decimal of more than 17 significant digits (leading and trailing zeros are not significant), or one that
//     float64 would turn into 0 or an infinity, is kept exactly under both;
//   - so is a hexadecimal number of more than 53 bits.
//
// If at least one number that is kept exactly is not a float64, all are kept as rationals ([numbers.Rationals]).
//
// # Errors
//
// Every error is one line that says what is wrong and what would be right. errors.Is(err, [ErrUsage]) tells a wrong
// spec from errors.Is(err, [ErrInput]), a file that cannot be read.
package datasets
