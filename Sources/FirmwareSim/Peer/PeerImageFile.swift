/// An image to send to a central: a PNG, all of it read.
public struct PeerImageFile: Sendable, Hashable {
    /// What it is called there: the last part of its path.
    public let name: String
    /// All of it.
    public let bytes: [UInt8]

    /// Reads the file.
    ///
    /// - Throws: ``DeviceFileError`` where it can't be read, is no PNG, or is larger than any central takes.
    public init(path: String) throws(DeviceFileError) {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        // A line end would end the announcement, and an empty name is none.
        name = String(String.UnicodeScalarView(last.unicodeScalars.map { Self.endsNoLine($0) ? $0 : "_" }))
        bytes = try DeviceFile.bytes(of: path, limit: PeerFirmwareOptions.largestImage)
        guard bytes.starts(with: PeerPicture.signature) else { throw DeviceFileError(.notPNG, path: path) }
    }

    private static func endsNoLine(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        case .format: scalar.value == 0x200D  // it joins emoji
        default: true
        }
    }
}
