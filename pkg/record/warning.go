package record

// Codes of warnings. They are part of the record format; the texts are not.
const (
	WarnOutliers    = "outliers"       // samples far from the median
	WarnSlowFirst   = "slow-first-run" // the first sample alone is slow
	WarnNoisy       = "noisy"          // stopped before the relative MAD was low enough
	WarnFewRuns     = "few-runs"       // fewer samples than asked for
	WarnShort       = "short"          // a sample is close to the resolution of the clock
	WarnInterrupted = "interrupted"    // the user stopped the run
	WarnTruncated   = "truncated"      // the last line of a file is cut off
	WarnBusy        = "busy"           // other programs use the processors
	WarnNoBound     = "no-bound"       // the conditions of the method's error bound do not hold
	WarnGovernor    = "governor"       // the processor's clock follows the load
	WarnTuning      = "tuning"         // launch parameters could not be read or kept
)

// A Warning tells that a result is to be taken with care, and what to do about it.
type Warning struct {
	Code   string `json:"code"`
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
}

// String returns the text and the advice in one line.
func (w Warning) String() string {
	if w.Advice == "" {
		return w.Text
	}
	return w.Text + "; " + w.Advice
}
