/// An image to send to a central: a PNG, all of it read.
public struct PeerImageFile: Sendable, Hashable {
    /// What it is called there: the last part of its path.
    public let name: String
    /// All of it.
    public let bytes: [UInt8]

    /// Reads the file.
    ///
    /// - Throws: ``PeerImageFileError`` where it can't be read, is no PNG, or is larger than any central takes.
    public init(path: String) throws(PeerImageFileError) {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        // A line end would end the announcement, and an empty name is none.
        name = String(String.UnicodeScalarView(last.unicodeScalars.map { Self.endsNoLine($0) ? $0 : "_" }))
        bytes = try Self.read(path)
        guard bytes.starts(with: PeerPicture.signature) else { throw PeerImageFileError(.notPNG, path: path) }
        guard bytes.count <= PeerFirmwareOptions.largestImage else { throw PeerImageFileError(.tooLarge, path: path) }
    }

    private static func endsNoLine(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        case .format: scalar.value == 0x200D  // it joins emoji
        default: true
        }
    }

    private static func read(_ path: String) throws(PeerImageFileError) -> [UInt8] {
        // One byte more than may be sent shows that it is too large, whatever its size.
        do throws(DeviceFileError) {
            return try DeviceFile.bytes(of: path, limit: PeerFirmwareOptions.largestImage)
        } catch {
            throw PeerImageFileError(.unreadable(errno: error.errno), path: path)
        }
    }
}

/// Why a file can't be sent as an image.
public struct PeerImageFileError: Error, Sendable, Hashable {
    /// The kinds of failure.
    public enum Code: Sendable, Hashable {
        /// The file can't be read.
        case unreadable(errno: Int32)
        /// It is no PNG.
        case notPNG
        /// It is larger than ``PeerFirmwareOptions/largestImage``, the most that a central takes.
        case tooLarge
    }

    /// The kind of failure.
    public var code: Code
    /// The file.
    public var path: String

    /// An error of the given kind.
    public init(_ code: Code, path: String) {
        self.code = code
        self.path = path
    }

    /// What a person can do about it.
    public var hint: String {
        switch code {
        case .unreadable: "name another file"
        case .notPNG: "name a PNG file, or convert this one to PNG first"
        case .tooLarge: "choose a smaller image, or scale this one down first"
        }
    }
}

extension PeerImageFileError: CustomStringConvertible {
    public var description: String {
        switch code {
        case .unreadable(let errno): "\(path): \(DeviceFile.words(errno))"
        case .notPNG: "\(path) is no PNG"
        case .tooLarge:
            "\(path) is larger than \(PeerFirmwareOptions.largestImage) bytes, the most that a central takes"
        }
    }
}
