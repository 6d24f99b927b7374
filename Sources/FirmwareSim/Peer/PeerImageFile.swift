/// A PNG file to send to a host, read into memory.
public struct PeerImageFile: Sendable, Hashable {
    /// The file name that the host gets: the last part of the path, with `_` for each line end, and each other control
    /// or format character except the zero-width joiner.
    public let name: String
    /// The content of the file.
    public let bytes: [UInt8]

    /// Reads the file.
    ///
    /// - Throws: ``DeviceFileError`` if the file can't be read, is not a PNG, or is larger than any host accepts.
    public init(path: String) throws(DeviceFileError) {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        // A line end in the name would end the line that announces the image. Removing line ends could leave no name.
        name = String(String.UnicodeScalarView(last.unicodeScalars.map { Self.endsNoLine($0) ? $0 : "_" }))
        bytes = try DeviceFile.bytes(of: path, limit: PeerFirmwareOptions.largestImage)
        guard bytes.starts(with: PeerPicture.signature) else { throw DeviceFileError(.notPNG, path: path) }
    }

    private static func endsNoLine(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        case .format: scalar.value == 0x200D  // the zero-width joiner, which joins emoji
        default: true
        }
    }
}
