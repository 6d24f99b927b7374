extension Bench {
    /// Asks for the image, and takes all of it that comes in time.
    ///
    /// - Parameter word: How it is asked for.
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

    /// The image that was asked for last; asked for anew where this check has judged that before.
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

    /// The same of an image that is whole.
    ///
    /// - Throws: ``CheckSkip`` where the peer has none, or a large one.
    func wholeTransfer() async throws -> ImageTransfer {
        let transfer = try await transfer()
        switch transfer.ending {
        case .end: return transfer
        case .error(let reason): throw CheckSkip(reason: "the peer has no image to send: \(reason)")
        case .tooLong: throw CheckSkip(reason: transfer.reasonNotToWait)
        case .silence: throw CheckSkip(reason: "the image has no end")
        }
    }

    /// Skips the check where a large image is still coming, between whose lines others are not told apart.
    func requireImageOver() throws {
        if let transfer = image?.transfer, transfer.isLong { throw CheckSkip(reason: transfer.reasonNotToWait) }
    }

    /// Fails unless the image is begun, or refused, in answer to this.
    @discardableResult
    func expectImage(_ word: String) async throws -> ImageTransfer {
        try requireImageOver()
        let transfer = try await download(word)
        if case .error = transfer.ending { return transfer }
        let got = "nothing of that in \(options.timeout.milliseconds) ms"
        try require(transfer.begin != nil, "IMG_BEGIN … or IMG_ERROR … in answer to \(word)", got: got)
        return transfer
    }
}

extension ImageTransfer {
    /// Whether it takes too long to be asked for again.
    var isLong: Bool { time > Self.briefTime }

    var reasonNotToWait: String {
        "the image takes longer than \(Self.briefTime.milliseconds / 1000) s: let the peer have a smaller one"
    }
}
