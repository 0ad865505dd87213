#include "textflag.h"

// func Read() uint32
TEXT ·Read(SB), NOSPLIT, $0-4
	STMXCSR ret+0(FP)
	RET

// func Set(word uint32)
TEXT ·Set(SB), NOSPLIT, $0-4
	LDMXCSR word+0(FP)
	RET
