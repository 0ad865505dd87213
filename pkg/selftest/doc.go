// Package selftest compares every method on every device of a machine with an independent reference, in seconds.
//
// What a method should give is known in up to three ways, and all are asked:
//
//   - within its proved bound of the exact result;
//   - bit for bit what a model of its algorithm gives, whose arithmetic is that of integers (model*.go): no rounding
//     mode, no fused operation, no vector instruction and no GPU has a part in it;
//   - exactly the exact result, where the data are such that nothing is rounded.
//
// The arithmetic of the processor itself is compared with the model first, on every thread: rounding mode, subnormal
// numbers, multiply-add. A result that is wrong is compared with models of what could have gone wrong, and named if
// one of them has the same bits. Methods and arithmetic are passed in ([Suite]), so that tests can pass in faulty
// ones.
package selftest
