// Package deferred computes sums of products exactly in residues and rounds each result once.
package deferred
