extension FamilyVerification {
    /// The storm sensor on a serial line: section 2 of the protocol's page.
    public static let storm = FamilyVerification(
        family: "storm",
        checks: [
            Check("storm.log.reply", "2: GET_LOG: the stored log comes back as LOG Values: <text>") { bench in
                _ = try await bench.log()
            },
            Check("storm.log.rows", "2: <pipe> <port> <point> <value>") { bench in
                for row in try await bench.log() where !row.isEmpty {
                    try require(isRow(row), "<pipe> <port> <point> <value>", got: row)
                }
            },
            Check("storm.log.same", "2: the stored log comes back, each time it is asked for") { bench in
                let first = try await bench.log()
                let second = try await bench.log()
                // What was measured meanwhile is behind it.
                try require(second.starts(with: first), "the same \(first.count) rows", got: "\(second.count) others")
            },
            Check(
                "storm.live.row", "2: LIVE LOG: <pipe> <port> <point> <value>, one per measurement", needs: [.stimulus]
            ) { bench in
                try await bench.act("measure")
                let line = try await bench.hear([.begin("LIVE LOG: ")], within: .seconds(2))[0]
                let row = String(line.text.dropFirst("LIVE LOG: ".count))
                try require(isRow(row), "LIVE LOG: <pipe> <port> <point> <value>", got: line.bytes.shown)
            },
        ],
        begin: { bench in
            do {
                _ = try await bench.log(isQuestion: true)
                return .ready
            } catch let failure as CheckFailure {
                return .unusable(failure)
            }
        },
        finish: { _, _ in },
        recover: { bench in
            while try await bench.line(within: .seconds(1)) != nil {}
            return true
        },
        end: { _ in .harmless }, isUnasked: { _ in false })

    /// Whether a text is a row of measurements: three whole numbers and one that may have decimals.
    private static func isRow(_ text: String) -> Bool {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.prefix(3).allSatisfy { Int($0) != nil } && Double(parts[3]) != nil
    }
}

extension Bench {
    /// Asks for the log, which ends with a second of silence; its rows.
    fileprivate func log(isQuestion: Bool = true) async throws -> [String] {
        try await send("GET_LOG\n", isQuestion: isQuestion)
        var (rows, hasBegun): ([String], Bool) = ([], false)
        // Live rows may come more often than that, and are no part of it.
        var deadline = elapsed + options.timeout
        while let line = try await line(by: deadline) {
            let text = line.text
            if !hasBegun, text == "GET_LOG" {
                note("says GET_LOG back")
            } else if text.hasPrefix("LIVE LOG: ") {
                continue
            } else if !hasBegun {
                try require(text.hasPrefix("LOG Values: "), "LOG Values: …", got: line.bytes.shown)
                hasBegun = true
                let first = String(text.dropFirst("LOG Values: ".count))
                if !first.isEmpty { rows.append(first) }
            } else {
                rows.append(text)
            }
            if hasBegun { deadline = elapsed + .seconds(1) }
        }
        try require(hasBegun, "LOG Values: …", got: "no answer in \(options.timeout.milliseconds) ms")
        return rows
    }
}
