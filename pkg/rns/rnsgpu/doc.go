// Package rnsgpu is the arithmetic of package rns on GPUs: bases and vectors of numbers in device memory, and the
// kernels of cuda/rns.cu, which do with each number of a vector what [rns.Context] does. cuda/rns.cuh is the
// arithmetic itself, for kernels of other packages; [Base.Parameter], [Vector.Parameter] and [Scratch.Parameter] are
// what such kernels are given.
//
// Sign, residues and exponent of every result are those that package rns computes. Intervals enclose, but need not be
// the same.
//
// All functions must be called on the device's thread, that is inside gpu.Device.Do.
package rnsgpu
