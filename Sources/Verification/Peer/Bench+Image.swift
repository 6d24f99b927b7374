extension Bench {
    /// Requests the image, and reads it until it ends or ``ImageTransfer/limit`` is reached. Also stops if
    /// `IMG_BEGIN` does not come within the timeout, or no further line within the timeout after a line of the image.
    ///
    /// - Parameter word: The request, such as `GET`.
    /// - Returns: The lines so far. ``ImageTransfer/ending`` says how the transfer ended.
    func download(_ word: String) async throws -> ImageTransfer {
        let (count, start) = (steps.count, elapsed)
        var transfer = ImageTransfer()
        try await say(word, isQuestion: true)
        while true {
            let patience = transfer.begin == nil ? start + options.timeout : elapsed + options.timeout
            guard let line = try await line(by: min(patience, start + ImageTransfer.limit)) else {
                if elapsed >= start + ImageTransfer.limit { transfer.ending = .tooLong }
                break
            }
            if transfer.begin == nil, line.message.text.hasPrefix("IMG_") {
                measure(.replyLatency, max(line.begin - start, .zero))
            }
            if transfer.take(line) { break }
        }
        leaveOutSteps(behind: count)
        transfer.time = elapsed - start
        transfer.steps = Array(steps[count...])
        return transfer
    }

    /// Returns the last transfer of the image. Requests the image again if the current check has already judged this
    /// transfer, as in a further round, unless ``ImageTransfer/isLong``.
    func transfer() async throws -> ImageTransfer {
        if let known = image, known.transfer.isLong || !known.judges.contains(check) {
            image?.judges.insert(check)
            recall(known.transfer.steps)
            return known.transfer
        }
        let transfer = try await download("GET")
        image = (transfer, [check])
        return transfer
    }

    /// Returns the transfer of a complete image, like ``transfer()``.
    ///
    /// - Throws: ``CheckSkip`` if the peer has no image, if the image takes longer than ``ImageTransfer/limit``, or if
    ///   no `IMG_END` comes.
    func wholeTransfer() async throws -> ImageTransfer {
        let transfer = try await transfer()
        switch transfer.ending {
        case .end: return transfer
        case .error(let reason): throw CheckSkip(reason: "the peer has no image to send: \(reason)")
        case .tooLong: throw CheckSkip(reason: transfer.reasonNotToWait)
        case .silence: throw CheckSkip(reason: "the image does not end with IMG_END")
        }
    }

    /// Skips the check if ``ImageTransfer/isLong``: to request such an image again would take too long, and the lines
    /// of the last transfer, which may still be arriving, could not be distinguished from other lines.
    func requireImageOver() throws {
        if let transfer = image?.transfer, transfer.isLong { throw CheckSkip(reason: transfer.reasonNotToWait) }
    }

    /// Fails unless an image begins, or is refused, in reply to `word`.
    @discardableResult
    func expectImage(_ word: String) async throws -> ImageTransfer {
        try requireImageOver()
        let transfer = try await download(word)
        if case .error = transfer.ending { return transfer }
        let got = "no such line in \(options.timeout.milliseconds) ms"
        try require(transfer.begin != nil, "IMG_BEGIN … or IMG_ERROR … in answer to \(word)", got: got)
        return transfer
    }
}

extension ImageTransfer {
    /// Whether the transfer took too long to be repeated.
    var isLong: Bool { time > Self.briefTime }

    var reasonNotToWait: String {
        "the image takes longer than \(Self.briefTime.milliseconds / 1000) s: use a smaller image"
    }
}
