import FirmwareSim

extension PeerFirmwareOptions {
    /// The same, with the PNG in the file at `path`; nil for the image as it is.
    func sending(_ path: String?) throws(Failure) -> PeerFirmwareOptions {
        guard let path else { return self }
        var options = self
        do throws(ImageFileError) { try options.readImage(at: path) } catch {
            switch error {
            case .unreadable(let errno): throw Failure(file: path, errno: errno)
            case .notPNG:
                throw Failure(
                    .usage, code: "not_png", "\(path) is no PNG",
                    hint: "name a PNG file, or convert this one to PNG first")
            case .tooLarge:
                throw Failure(
                    .usage, code: "too_large",
                    "\(path) is larger than \(Self.largestImage) bytes, the most that a central takes",
                    hint: "choose a smaller image, or scale this one down first")
            }
        }
        return options
    }
}
