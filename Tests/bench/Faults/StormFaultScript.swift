import DeviceKit
import FirmwareSim
import LineProtocol
import Synchronization
import TestSupport

/// A host that fetches a storm sensor's log, and then follows its live rows.
enum StormFaultScript: FaultScript {
    struct Truth: Sendable {
        /// The rows that the sensor has measured and will measure.
        var log: StormLog
        /// The number of rows that the sensor has stored.
        var rowCount: Int
    }

    typealias Bench = FaultBench<Truth>

    static let family = "storm"
    static let steps = ["log", "live"]

    static func run(_ bench: Bench) async -> [Outcome] { [await fetch(bench), await follow(bench)] }

    // MARK: The log

    private static func fetch(_ bench: Bench) async -> Outcome {
        let start = bench.tape.end
        let before = await bench.truth()
        let folder = TemporaryFolder()
        do {
            let file = try ReplacedFile(path: folder.path("storm.log"))
            let download = LogDownload(over: try await bench.link(), to: file, clock: bench.clock)
            let fetching = Task(executorPreference: bench.executor) { try await download.run() }
            let isGivenUp = Mutex(false)
            let timer = Task(executorPreference: bench.executor) {
                // The time after which a user would give up; chosen, not measured.
                await bench.pass(.seconds(60))
                guard !Task.isCancelled else { return }
                isGivenUp.withLock { $0 = true }
                fetching.cancel()
            }
            let result = await fetching.result
            timer.cancel()
            // Live rows must not delay the end of a download. If none came, the sensor's output was unintelligible and
            // may never have fallen silent: a user would notice that and give up, as the timer did.
            if isGivenUp.withLock({ $0 }), !StormOracle.liveRows(bench, from: start).isEmpty {
                return .failed("it does not end")
            }
            let report = try result.get()
            let text = folder.read("storm.log")
            let after = await bench.truth()
            return judge(bench, text, report, from: start, before.rowCount...after.rowCount, of: after.log)
        } catch {
            return .reported
        }
    }

    /// - Parameter rowCounts: The numbers of rows that the sensor had stored during the transfer.
    private static func judge(
        _ bench: Bench, _ text: [UInt8], _ report: LogDownload.Report, from start: Int, _ rowCounts: ClosedRange<Int>,
        of log: StormLog
    ) -> Outcome {
        let sendings = bench.tape.sendings(of: "GET_LOG", from: start)
        guard let asked = sendings.first else { return .failed("a log is shown that was not asked for") }
        if rowCounts.contains(where: { log.text(rows: 0..<$0) == text }) { return .right(asked: sendings.count) }
        // The protocol has neither an end marker nor a checksum for a log, so the host shows what arrived.
        let delivered = StormOracle.log(bench, from: asked)
        if text == delivered { return .undetectable }
        let added = text.count - delivered.count
        if bench.isRadio, added == report.addedLineEndCount, text.withoutLineEnds == delivered.withoutLineEnds {
            return .undetectable
        }
        return .failed(
            "\(String(decoding: text, as: UTF8.self).debugDescription) is shown, and what came is "
                + String(decoding: delivered, as: UTF8.self).debugDescription)
    }

    // MARK: Live rows

    private final class Heard: Sendable {
        struct State {
            var rows: [StormLiveRow] = []
            var hasLoss = false
        }
        let state = Mutex(State())
    }

    private static func follow(_ bench: Bench) async -> Outcome {
        let start = bench.tape.end
        do {
            let link = try await bench.link()
            let monitor = StormMonitor(over: link, bench.reconnector(link))
            let first = await bench.truth().rowCount
            let heard = Heard()
            let reading = Task(executorPreference: bench.executor) {
                for try await element in monitor {
                    heard.state.withLock { state in
                        switch element {
                        case .heard(let row): state.rows.append(row)
                        case .lost: state.hasLoss = true
                        case .back: break
                        }
                    }
                }
            }
            // Eight rows or nine: the sensor measures once a second.
            await bench.pass(.milliseconds(8500))
            let truth = await bench.truth()
            // Rows measured by now may arrive up to 5 s late, with the fault `delay=5s`.
            await bench.pass(.seconds(6))
            await monitor.close()
            _ = await reading.result
            let (rows, hasLoss) = heard.state.withLock { ($0.rows, $0.hasLoss) }
            return judge(bench, rows, hasLoss, from: start, first..<truth.rowCount, of: truth.log)
        } catch {
            return .reported
        }
    }

    /// - Parameter measured: The numbers of the rows measured from the opening of the link until a few seconds before
    ///   its end.
    private static func judge(
        _ bench: Bench, _ rows: [StormLiveRow], _ hasLoss: Bool, from start: Int, _ measured: Range<Int>,
        of log: StormLog
    ) -> Outcome {
        let shown = rows.map { String(decoding: $0.bytes, as: UTF8.self) }
        let delivered = StormOracle.liveRows(bench, from: start)
        guard shown == delivered else { return .failed("\(shown) are shown, and what came is \(delivered)") }
        // The host may also show rows from before `measured`, which came late, and rows from after `measured`: about
        // six, which 20 surely covers.
        let known = (0..<measured.upperBound + 20).map {
            String(decoding: log.text(rows: $0..<$0 + 1).dropLast(), as: UTF8.self)
        }
        let begin = known.lastIndex { $0 == shown.first && !shown.isEmpty } ?? measured.upperBound
        let isWhole = begin <= measured.lowerBound && begin + shown.count >= measured.upperBound
        if isWhole, known[begin...].starts(with: shown) { return hasLoss ? .recovered : .done }
        // A user notices a damaged row, unless it looks like a measurement.
        let strange = shown.filter { !known.contains($0) }
        let isFalse = strange.contains(where: StormOracle.isMeasurement)
        let isTold = hasLoss || !strange.isEmpty || rows.contains(where: \.mayBeCut)
        return isTold && !isFalse ? .reported : .undetectable
    }
}

/// Parses a storm sensor's output as in docs/protocols.md, independently of the host's code.
enum StormOracle {
    /// The log's text that was delivered from `start` on.
    static func log(_ bench: FaultBench<StormFaultScript.Truth>, from start: Int) -> [UInt8] {
        if bench.isRadio {
            return bench.tape.packets(from: start).flatMap(logText)
        }
        return pieces(of: bench.tape.streams(from: start).first ?? []).flatMap(logText)
    }

    /// The part of a piece that belongs to the log; empty if none does.
    ///
    /// - Parameter piece: A line with its end, the beginning of one, or a notification.
    private static func logText(of piece: [UInt8]) -> [UInt8] {
        let content = piece.withoutEnd
        if content == Array("GET_LOG".utf8) || content.starts(with: "LIVE LOG: ".utf8) { return [] }
        guard content.starts(with: "LOG Values: ".utf8) else { return piece }
        let rest = Array(piece.dropFirst("LOG Values: ".utf8.count))
        return rest.withoutEnd.isEmpty ? [] : rest
    }

    /// The live rows delivered from `start` on.
    static func liveRows(_ bench: FaultBench<StormFaultScript.Truth>, from start: Int) -> [String] {
        let lines =
            bench.isRadio
            ? bench.tape.packets(from: start).map { String(decoding: $0.withoutEnd, as: UTF8.self) }
            : bench.tape.lines(from: start)
        // The host ignores an empty row.
        return lines.filter { $0.hasPrefix("LIVE LOG: ") }.map { String($0.dropFirst("LIVE LOG: ".count)) }
            .filter { !$0.isEmpty }
    }

    /// Whether a row has four fields, the last one a number.
    static func isMeasurement(_ row: String) -> Bool {
        let fields = row.split { $0 == " " || $0 == "\t" }
        return fields.count == 4 && !fields[3].lowercased().contains("x") && Double(fields[3]) != nil
    }

    /// Splits bytes into lines with their ends: `\n`, `\r`, or both together. The last line may have none.
    private static func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var piece: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            piece.append(byte)
            let endsLine = byte == 0x0A || byte == 0x0D && (index + 1 == bytes.count || bytes[index + 1] != 0x0A)
            guard endsLine else { continue }
            pieces.append(piece)
            piece = []
        }
        return piece.isEmpty ? pieces : pieces + [piece]
    }
}

extension [UInt8] {
    /// The bytes without `\n` and `\r` at the end.
    var withoutEnd: [UInt8] {
        Array(self[...(lastIndex { $0 != 0x0A && $0 != 0x0D } ?? -1)])
    }

    fileprivate var withoutLineEnds: [UInt8] { filter { $0 != 0x0A && $0 != 0x0D } }
}
