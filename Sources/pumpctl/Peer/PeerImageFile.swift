import FirmwareSim
import Glibc
import LineProtocol

/// An image to send to a central: a PNG, all of it read.
struct PeerImageFile {
    /// What it is called there: the last part of its path.
    let name: String
    let bytes: [UInt8]

    /// Reads the file.
    ///
    /// - Throws: `Failure` where it can't be read, is no PNG, or is larger than any central takes.
    init(path: String) throws(Failure) {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        // A line end would end the announcement, and an empty name is none.
        name = String(String.UnicodeScalarView(last.unicodeScalars.map { $0.isPrintable ? $0 : "_" }))
        bytes = try Self.read(path)
        guard bytes.starts(with: PeerPicture.signature) else {
            throw Failure(
                .usage, code: "not_png", "\(path) is no PNG", hint: "name a PNG file, or convert this one to PNG first")
        }
        guard bytes.count <= PeerFirmwareOptions.largestImage else {
            throw Failure(
                .usage, code: "too_large",
                "\(path) is larger than \(PeerFirmwareOptions.largestImage) bytes, the most that a central takes",
                hint: "choose a smaller image, or scale this one down first")
        }
    }

    private static func read(_ path: String) throws(Failure) -> [UInt8] {
        // What is no file must not hold up the command.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw Failure(file: path, errno: errno) }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        // One byte more than may be sent shows that it is too large, whatever its size.
        while bytes.count <= PeerFirmwareOptions.largestImage {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0 { throw Failure(file: path, errno: errno) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return bytes
    }
}

extension PeerFirmwareOptions {
    /// The same, with the image in the file at `path`; nil for the image as it is.
    ///
    /// - Throws: As ``PeerImageFile/init(path:)``.
    func sending(_ path: String?) throws(Failure) -> PeerFirmwareOptions {
        guard let path else { return self }
        let file = try PeerImageFile(path: path)
        var options = self
        options.imageName = file.name
        options.image = file.bytes
        return options
    }
}
