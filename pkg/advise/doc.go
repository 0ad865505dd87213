// Package advise finds the cheapest method that gives a wanted accuracy on given data.
//
// A method qualifies in one of two ways. Its proved bound may promise the accuracy for the condition number and the length of the
// data: then it has it on any data like these. Or it has it on these very data, which is found by running it and comparing with the
// exact result: bounds are pessimistic, and a plain float64 sum often has more digits than anything promises. Every candidate is
// run in either case, its time is measured, and the recommendation is run once more at the end and must hold.
//
// The cost of a method is that of one operation together with its share of the conversion of the data to the method's format:
// conversion divided by how often the converted data will be used.
package advise
