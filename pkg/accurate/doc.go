// Package accurate computes sums, dot products and matrix-vector products of float64 numbers that are correctly
// rounded: the result is the float64 (or the big.Float of a precision) nearest to the exact one, whatever the numbers,
// their order, their condition number, and the number of goroutines.
//
//	accurate.Sum(x)                    // the sum of a []float64
//	accurate.Dot(x, y)                 // the dot product
//	accurate.MulVec(dst, a, x)         // dst = a*x, every component; a is any mat.Matrix of gonum
//	accurate.Gemv(alpha, a, x, beta, y)
//	accurate.SumPrec(x, 100)           // to 100 bits; likewise DotPrec, MulVecPrec
//	accurate.Threads(0).Sum(x)         // by all processors: the same bits
//
//	var s accurate.Accumulator         // step by step, in parts, on several machines
//	s.AddSlice(x)
//	s.Merge(&other)
//	s.Float64()
//
// A loop that adds n float64 numbers rounds after every addition. Its error is at most about n 2^-53 cond |sum|, and
// the condition number cond = sum|x| / |sum x| can be of any size, so that no digit may be correct. Here everything is
// added exactly, into integers, and rounded once: the error is at most 2^-53 |sum|, always. For a thousand numbers or
// more a sum takes no longer than the loop, and a dot product about as long.
//
// Package accuratetest tells in tests how many bits of a result are correct.
//
// # Promises
//
// Each function says what its result is, the bound on its error, its special values, what it costs, and where the
// algorithm is from. All of them
//
//   - compute the same bits on every machine, with every instruction set and number of goroutines;
//   - treat infinities and NaN as IEEE 754 arithmetic that does not overflow on the way;
//   - return +0 for a sum that is zero, whatever the signs of the zeros added;
//   - panic only if lengths do not match ([LengthError]) or the result would overwrite an operand ([OverlapError]), as
//     gonum does;
//   - allocate nothing if they return no big.Float and use one goroutine, but for what [Gemv] and [MulVecDense] say,
//     and for less than 180 kB where 2^14 numbers or more are of very different magnitude.
//
// # Marshalled accumulators
//
// An [Accumulator] is marshalled to bytes that any program can read, add and write. Integers are little-endian:
//
//	offset       bytes
//	0            6        the characters mpbsum
//	6            1        version: 1
//	7            1        class: 0 a number, 1 +Inf, 2 -Inf, 3 NaN
//	8            8        how many terms were added
//	16           4        first
//	20           4        count, 0 unless the class is 0
//	24           8 count  an integer in two's complement
//	24+8 count   4        CRC-32 (IEEE 802.3) of all bytes before
//
// The sum is the integer times 2^(64 first - 2148), exactly. The integer has no word more than it needs: its lowest
// word is not zero, its highest not only a repetition of the sign; zero has first = count = 0. So equal sums of
// equally many terms are equal bytes. Two accumulators are added by adding the integers, brought to the lesser first,
// and the terms; a class other than 0 stays, and two different ones make NaN. In Python:
//
//	def read(b):
//	    assert b[:7] == b"mpbsum\x01" and zlib.crc32(b[:-4]) == int.from_bytes(b[-4:], "little")
//	    if b[7]:
//	        return [math.inf, -math.inf, math.nan][b[7] - 1]
//	    first = int.from_bytes(b[16:20], "little")
//	    return int.from_bytes(b[24:-4], "little", signed=True) * fractions.Fraction(2) ** (64 * first - 2148)
package accurate
