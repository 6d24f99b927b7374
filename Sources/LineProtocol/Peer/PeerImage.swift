/// An image as it is announced: `IMG_BEGIN <filename> <bytes>`.
public struct PeerImage: Sendable, Hashable {
    /// The name that the peer gives it. It is the word of a stranger, and no path to write to.
    public var name: String
    /// Its size in bytes, 0 or more.
    public var byteCount: Int

    /// An image of that name and size.
    public init(name: String, byteCount: Int) {
        self.name = name
        self.byteCount = byteCount
    }

    /// How many base64 characters it takes.
    public var characterCount: Int { byteCount > Int.max / 2 ? .max : (byteCount + 2) / 3 * 4 }

    /// Reads what follows `IMG_BEGIN`. The name may hold spaces.
    init?(announcement: ArraySlice<UInt8>) {
        let fields = announcement.dropFirst()
        guard announcement.first == UInt8(ascii: " "), let space = fields.lastIndex(of: UInt8(ascii: " ")),
            let name = String(validating: fields[..<space], as: UTF8.self), !name.allSatisfy({ $0 == " " })
        else { return nil }
        let digits = fields[(space + 1)...]
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        // What no number holds is too large in any case.
        self.init(name: name, byteCount: Int(String(decoding: digits, as: UTF8.self)) ?? .max)
    }
}
