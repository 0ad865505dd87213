package gpu

// libraryNames are where the driver's library is looked for.
var libraryNames = []string{"nvcuda.dll"}
