// Nothing is called: a program that has this linked in goes without the data of locales.
