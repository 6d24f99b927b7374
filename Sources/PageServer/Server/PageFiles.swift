internal import CPageFiles
internal import NIOHTTP1

/// The page's own files, which are part of the program.
struct PageFiles: Sendable {
    /// The version of the files, which is part of their paths: a browser keeps a file for good, and asks for the files
    /// of another version under other paths.
    let version: String
    private let index: [UInt8]
    private let files: [String: [UInt8]]

    init() {
        var files: [String: [UInt8]] = [:]
        for file in UnsafeBufferPointer(start: page_files, count: page_file_count) {
            let name = String(cString: file.name)
            files[name] = name.hasSuffix(".js") ? Self.withoutComments(Self.bytes(file)) : Self.bytes(file)
        }
        // FNV-1a is enough, because all files are the project's own.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for name in files.keys.sorted() {
            for byte in Array(name.utf8) + [0] + files[name, default: []] {
                hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
            }
        }
        version = String(hash, radix: 16)
        index = Array(
            String(decoding: Self.bytes(page_index), as: UTF8.self).split(
                separator: "VERSION", omittingEmptySubsequences: false
            ).joined(separator: version).utf8)
        self.files = files
    }

    /// The page of the root.
    var page: Reply { Reply(type: "text/html; charset=utf-8", index) }

    /// The description of the interface in OpenAPI.
    static var openAPI: Reply { Reply(type: "application/json", bytes(page_openapi)) }

    /// Returns a file.
    ///
    /// - Throws: `no_such_path` if this version has no such file.
    func file(_ name: String, version: String) throws(Problem) -> Reply {
        guard version == self.version, let bytes = files[name] else {
            throw Problem(
                .notFound, "no_such_path", "there is no such file", hint: "load the page again", outcome: "not_sent")
        }
        let types = ["css": "text/css", "svg": "image/svg+xml", "webmanifest": "application/manifest+json"]
        let ending = name.split(separator: ".").last.map(String.init) ?? ""
        var reply = Reply(type: types[ending] ?? "text/javascript", bytes)
        reply.headers = [("Cache-Control", "max-age=31536000, immutable")]
        // The service worker also keeps the page at `/`, which is outside the folder of its own path.
        if name == "worker.js" { reply.headers.append(("Service-Worker-Allowed", "/")) }
        return reply
    }

    /// Returns a script without the comments that have lines of their own: they are for readers of the source. Each
    /// such line becomes empty, so that the numbers of the lines in a browser's messages are those of the source.
    static func withoutComments(_ script: [UInt8]) -> [UInt8] {
        var isInComment = false
        let lines = script.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            let text = line.drop { $0 == UInt8(ascii: " ") }
            if text.starts(with: "/**".utf8) { isInComment = true }
            let isComment = isInComment || text.starts(with: "//".utf8)
            if text.suffix(2).elementsEqual("*/".utf8) { isInComment = false }
            return isComment ? [] : line
        }
        return Array(lines.joined(separator: "\n".utf8))
    }

    private static func bytes(_ file: page_file) -> [UInt8] {
        Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
}
