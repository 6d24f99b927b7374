internal import Glibc

extension PeerFirmwareOptions {
    /// Why an image can't be sent.
    public enum ImageFileError: Error, Sendable, Hashable {
        /// The file can't be read: the system's errno.
        case unreadable(Int32)
        /// It is no PNG.
        case notPNG
        /// It is larger than ``PeerFirmwareOptions/largestImage``.
        case tooLarge
    }

    /// Has the peer send the PNG in a file, all of which is read now, by the last part of its path.
    public mutating func readImage(at path: String) throws(ImageFileError) {
        let bytes = try Self.read(path)
        guard bytes.starts(with: PeerPicture.signature) else { throw .notPNG }
        guard bytes.count <= Self.largestImage else { throw .tooLarge }
        image = bytes
        // A line end would end the announcement, and an empty name is none.
        let name = path.split(separator: "/").last.map(String.init) ?? path
        imageName = String(String.UnicodeScalarView(name.unicodeScalars.map { Self.isControl($0) ? "_" : $0 }))
    }

    /// Whether a scalar ends a line, or is not seen.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: scalar.value != 0x200D  // it joins emoji
        default: false
        }
    }

    private static func read(_ path: String) throws(ImageFileError) -> [UInt8] {
        // What is no file must not hold up the program.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .unreadable(errno) }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        // One byte more than may be sent shows that it is too large, whatever its size.
        while bytes.count <= largestImage {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0 { throw .unreadable(errno) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return bytes
    }
}
