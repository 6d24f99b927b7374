internal import LineProtocol

extension FamilyVerification {
    /// Checks of the image and its transfer.
    static let imageChecks: [Check] = [
        Check("peer.image.begin", 16, "IMG_BEGIN <filename> <bytes>; or IMG_ERROR <reason>") { bench in
            let transfer = try await bench.transfer()
            if case .error(let reason) = transfer.ending, transfer.begin == nil {
                try require(imageErrors.contains(reason), imageErrors.joined(separator: ", "), got: reason)
                return bench.note("no image: \(reason)")
            }
            let got = transfer.begin?.bytes.shown ?? "no such line"
            try require(transfer.announced != nil, "IMG_BEGIN <filename> <bytes>", got: got)
        },
        Check("peer.image.chunks", 17, "base64 in pieces of at most 180 characters") { bench in
            let transfer = try await bench.transfer()
            if transfer.chunks.isEmpty, case .error(let reason) = transfer.ending {
                throw CheckSkip(reason: "the peer has no image to send: \(reason)")
            }
            let longest = transfer.chunks.map(\.count).max()
            try require(longest.map { $0 <= 180 } ?? false, "pieces of at most 180 characters", got: longest.described)
        },
        Check("peer.image.base64", 21, "the joined pieces are base64, with padding at the end") { bench in
            let transfer = try await bench.wholeTransfer()
            guard Base64.bytes(transfer.characters) == nil else { return }
            let bad = transfer.chunks.first { !$0.allSatisfy(Base64.isCharacter) }
            let got = bad?.shown ?? "\(transfer.characters.count.counted("character")) that are not base64"
            throw CheckFailure(expected: "base64 with padding at the end", got: got)
        },
        Check("peer.image.size", 22, "the pieces decode to the announced number of bytes") { bench in
            let transfer = try await bench.wholeTransfer()
            guard let size = transfer.announced?.size, size <= mostBytes,
                let count = Base64.bytes(transfer.characters)?.count
            else { throw CheckSkip(reason: "the announced and the decoded size cannot be compared") }
            try require(count == size, "\(size.counted("byte")), as announced", got: count.counted("byte"))
        },
        Check("peer.image.limit", 23, "an image has at most 7,000,000 characters of base64") { bench in
            let transfer = try await bench.transfer()
            guard let size = transfer.announced?.size else {
                throw CheckSkip(reason: "the peer has announced no size")
            }
            try require(size <= mostBytes, "at most \(mostBytes) bytes, which are 7,000,000 characters", got: "\(size)")
        },
        Check("peer.image.png", 20, "an image is a PNG") { bench in
            // 12 characters are 9 bytes: enough for the signature.
            let start = Base64.bytes(Array(try await bench.wholeTransfer().characters.prefix(12)))
            let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            guard let start else { throw CheckSkip(reason: "the image is not base64") }
            try require(start.starts(with: signature), "the 8-byte signature of a PNG", got: start.shown)
        },
        Check("peer.image.end", 18, "IMG_END when the image is complete") { bench in
            let transfer = try await bench.transfer()
            switch transfer.ending {
            case .end: return
            case .error(let reason): throw CheckSkip(reason: "the peer has no image to send: \(reason)")
            case .tooLong: throw CheckSkip(reason: transfer.reasonNotToWait)
            case .silence:
                let got = transfer.chunks.last?.shown ?? transfer.begin?.bytes.shown ?? "nothing"
                throw CheckFailure(expected: "IMG_END", got: "\(got), and nothing after it")
            }
        },
        Check("peer.image.framing", 3, "a message is a line, or over BLE one notification without a line end") {
            bench in
            let ends = try await bench.transfer().ends.sorted()
            if bench.keepsPacketBounds {
                try require(ends == [""], "no line ends", got: ends.joined(separator: ", "))
            } else {
                try require(ends.count == 1, "all lines with the same end", got: "\\r\\n and \\n mixed")
                bench.note("lines end with \(ends.first == "" ? "\\n" : "\\r\\n")")
            }
        },
        Check("peer.image.queue", 24, "the peer queues notifications, and loses none") {
            bench in
            let first = try await bench.wholeTransfer()
            let next = try await bench.expectImage("GET")
            let got = "\(next.characters.count.counted("character")), \(next.ending == .end ? "IMG_END" : "no IMG_END")"
            try require(
                next.ending == .end && next.characters.count == first.characters.count,
                "\(first.characters.count.counted("character")) and IMG_END, as before", got: got)
        },
        Check(
            "peer.image.error", 19, "IMG_ERROR <reason>: no_file_selected, not_png, read_failed", needs: [.stimulus]
        ) { bench in
            // The longest of these lines has 26 bytes; the rest is a margin.
            try await bench.requirePackets(of: 40)
            // The faults of the simulated peer are restored at the end.
            let faults = try await bench.stimulus?.state()["faults"] ?? "none"
            do {
                for reason in imageErrors {
                    try await bench.act("fault", reason)
                    let ending = try await bench.expectImage("GET").ending
                    try require(ending == .error(reason), "IMG_ERROR \(reason)", got: "\(ending)")
                }
            } catch {
                try await bench.act("fault", faults)
                throw error
            }
            try await bench.act("fault", faults)
        },
    ]

    private static let imageErrors = ["no_file_selected", "not_png", "read_failed"]
    /// The number of bytes in 7,000,000 characters of base64.
    private static let mostBytes = 5_250_000
}

extension Int? {
    fileprivate var described: String { map { $0.counted("character") } ?? "none" }
}
