/// The announcement of an image: `IMG_BEGIN <filename> <bytes>`.
public struct PeerImage: Sendable, Hashable {
    /// The file name that the peer announces. It comes from outside, so never use it as a path.
    public var name: String
    /// The announced size in bytes, 0 or more.
    public var byteCount: Int

    /// Creates an announcement.
    public init(name: String, byteCount: Int) {
        self.name = name
        self.byteCount = byteCount
    }

    /// The number of base64 characters for this size.
    public var characterCount: Int { byteCount > Int.max / 2 ? .max : (byteCount + 2) / 3 * 4 }

    /// Parses the text after `IMG_BEGIN`. The name may contain spaces.
    init?(announcement: ArraySlice<UInt8>) {
        let fields = announcement.dropFirst()
        guard announcement.first == UInt8(ascii: " "), let space = fields.lastIndex(of: UInt8(ascii: " ")),
            let name = String(validating: fields[..<space], as: UTF8.self), !name.allSatisfy({ $0 == " " })
        else { return nil }
        let digits = fields[(space + 1)...]
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        // A number that does not fit into an `Int` is too large in any case.
        self.init(name: name, byteCount: Int(String(decoding: digits, as: UTF8.self)) ?? .max)
    }
}
