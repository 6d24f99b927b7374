internal import LineProtocol

extension FamilyVerification {
    /// The checks of a storm sensor, on a serial line and over BLE, by docs/protocols.md.
    ///
    /// No line counts as unsolicited here: the checks recognize live rows themselves, which come at any time.
    public static let storm = FamilyVerification(
        family: "storm", checks: logChecks + liveChecks,
        begin: { bench in
            do {
                bench.storedLog = (try await bench.untilAnswered { try await bench.readLog(behind: $0) }, [])
                return .ready
            } catch let failure as CheckFailure {
                return .unusable(failure)
            }
        },
        finish: { _, _ in },
        recover: { bench in
            try await bench.drain(quiet: .seconds(1))
            return true
        },
        end: { _ in .harmless }, isUnasked: { _ in false },
        // A line after the rows that is no row, such as an end marker, would also make the comparison of two logs fail:
        // if the log has grown, the second log has new rows at the place of this line.
        basis: [
            (["storm.log.same", "storm.log.grows"], ["storm.log.rows"]), (["storm.log.grows"], ["storm.log.same"]),
        ])

    private static let logChecks: [Check] = [
        Check("storm.log.reply", 3, "GET_LOG is answered by LOG Values: …") { bench in
            _ = try await bench.log()
        },
        Check("storm.log.rows", 6, "a row is <pipe> <port> <point> <value>") { bench in
            let rows = try await bench.log().rows.filter { !$0.isEmpty }
            if rows.isEmpty { throw CheckSkip(reason: "the log has no rows") }
            for row in rows {
                try require(isRow(row), "<pipe> <port> <point> <value>", got: row)
            }
        },
        Check("storm.log.same", 9, "the log is sent each time that it is requested") { bench in
            let first = try await bench.log()
            guard first.isWhole else { throw CheckSkip(reason: StoredLog.reasonNotToWait) }
            let second = try await bench.readLog()
            guard second.isWhole else { throw CheckSkip(reason: StoredLog.reasonNotToWait) }
            // Measurements that were made between the two downloads are at the end of the second log.
            try require(
                second.rows.starts(with: first.rows), "the same \(first.rows.count.counted("row"))",
                got: "another log of \(second.rows.count.counted("row"))")
        },
        Check(
            "storm.log.grows", 9, "new measurements are added at the end of the log",
            needs: [.stimulus]
        ) {
            bench in
            let first = try await bench.log()
            guard first.isWhole else { throw CheckSkip(reason: StoredLog.reasonNotToWait) }
            try await bench.act("measure")
            let second = try await bench.readLog()
            guard second.isWhole else { throw CheckSkip(reason: StoredLog.reasonNotToWait) }
            let grows = second.rows.starts(with: first.rows) && second.rows.count > first.rows.count
            try require(
                grows, "the same \(first.rows.count.counted("row")), and at least one more",
                got: second.rows.count.counted("row"))
        },
    ]

    private static let liveChecks: [Check] = [
        Check(
            "storm.live.row", 10, "a measurement is sent as LIVE LOG: <pipe> <port> <point> <value>", needs: [.stimulus]
        ) { bench in
            try bench.requireLogOver()
            // Room for the prefix of 10 bytes and a row of 30.
            try await bench.requirePackets(of: 40)
            try await bench.act("measure")
            let line = try await bench.hear([.begin("LIVE LOG: ")], within: max(bench.options.timeout, .seconds(2)))[0]
            let row = String(line.message.text.dropFirst("LIVE LOG: ".count))
            try require(isRow(row), "LIVE LOG: <pipe> <port> <point> <value>", got: line.bytes.shown)
        },
        Check("storm.live.once", 10, "one live row for each measurement", needs: [.stimulus]) { bench in
            try bench.requireLogOver()
            try await bench.requirePackets(of: 40)
            var got = (rows: 0, lines: 0)
            // A measurement that the sensor makes on its own may be included in only one of the two counts: try again.
            for _ in 1...3 {
                try await bench.drain(quiet: .milliseconds(100))
                let before = try await bench.observeCount("rows")
                try await bench.act("measure")
                let count = try await bench.countLiveRows(for: .milliseconds(300))
                got = (try await bench.observeCount("rows") - before, count)
                if got.rows == got.lines { return }
            }
            throw CheckFailure(expected: "\(got.rows) live rows, one for each measurement", got: "\(got.lines)")
        },
    ]

    /// Whether a text is a row of measurements: three integers and a number.
    private static func isRow(_ text: String) -> Bool {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.prefix(3).allSatisfy { Int($0) != nil } && Double(parts[3]) != nil
    }
}
