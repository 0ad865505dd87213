// Package expansion holds error-free transformations of binary64 arithmetic and what is built on them: exact sums and dot
// products at memory speed.
package expansion
