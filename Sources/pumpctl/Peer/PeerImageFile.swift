import FirmwareSim

extension PeerFirmwareOptions {
    /// The same, with the image in the file at `path`; nil for the image as it is.
    func sending(_ path: String?) throws(Failure) -> PeerFirmwareOptions {
        guard let path else { return self }
        var options = self
        do throws(PeerImageFileError) { options.send(try PeerImageFile(path: path)) } catch { throw Failure(error) }
        return options
    }
}

extension Failure {
    /// A file can't be sent as an image.
    init(_ error: PeerImageFileError) {
        switch error.code {
        case .unreadable(let errno): self.init(file: error.path, errno: errno)
        case .notPNG: self.init(.usage, code: "not_png", "\(error)", hint: error.hint)
        case .tooLarge: self.init(.usage, code: "too_large", "\(error)", hint: error.hint)
        }
    }
}

extension PeerImageFileError {
    /// What a person can do about it.
    var hint: String {
        switch code {
        case .unreadable: "name another file"
        case .notPNG: "name a PNG file, or convert this one to PNG first"
        case .tooLarge: "choose a smaller image, or scale this one down first"
        }
    }
}
