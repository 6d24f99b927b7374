/// The codes of the D-Bus types.
enum TypeCode {
    static let byte = code("y")
    static let boolean = code("b")
    static let int16 = code("n")
    static let uint16 = code("q")
    static let int32 = code("i")
    static let uint32 = code("u")
    static let int64 = code("x")
    static let uint64 = code("t")
    static let double = code("d")
    static let string = code("s")
    static let objectPath = code("o")
    static let signature = code("g")
    static let unixFD = code("h")
    static let array = code("a")
    static let variant = code("v")
    // Signatures write a structure in parentheses and an entry in braces; iterators report these codes.
    static let structure = code("r")
    static let entry = code("e")

    @inline(__always)
    private static func code(_ letter: Unicode.Scalar) -> CInt { CInt(letter.value) }
}
