// There is nothing to call: linking this target removes the locale data from a program.
