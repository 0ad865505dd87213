// Package paper repeats the experiments of two papers and compares every figure that they print with the one measured here.
//
// Each experiment has a file: the paper's figures with the table they stand in, what is run for them, and how they are compared.
// Results and errors of sums are functions of the data and the algorithm, so a figure either has the printed digits or a note
// says why not; times and shares of times are those of another machine and stand side by side, and what the text says of them
// ("twice as fast") is a statement of its own. What cannot run on this machine is listed with the reason.
//
// Sources: K. Isupov, V. Knyazkov, A. Kuvaev, "Summation of the multiple accuracy on central and graphic processors using the MPRES
// library", Izvestiya SFedU. Engineering Sciences 8 (2018) 191-203, DOI 10.23683/2311-3103-2018-8-191-203; K. Isupov, V.
// Knyazkov, "Multiple-precision matrix-vector multiplication on graphics processing units", Program Systems: Theory and
// Applications 11:3(46) (2020) 61-84, DOI 10.25209/2079-3316-2020-11-3-61-84.
package paper
