import DeviceKit
import FirmwareSim
import LineProtocol

/// A host that queries an LED board, switches the LED on and off, and then follows the board.
enum LEDFaultScript: FaultScript {
    /// Whether the LED is lit.
    typealias Truth = Bool
    typealias Bench = FaultBench<Bool>

    static let family = "led"
    static let steps = ["get", "on", "toggle", "on", "off", "follow"]

    static func run(_ bench: Bench) async -> [Outcome] {
        let session = RenewedSession<Bool, LEDFamily>(bench)
        var outcomes = [
            await session.perform { await read(bench, $0) },
            await session.perform { await write(bench, $0, true) },
            await session.perform { await toggle(bench, $0) },
            await session.perform { await write(bench, $0, true) },
            await session.perform { await write(bench, $0, false) },
        ]
        await session.close()
        outcomes.append(await follow(bench))
        return outcomes
    }

    private static func read(_ bench: Bench, _ session: LEDSession) async -> Outcome {
        let start = bench.tape.end
        let value: LEDValue
        do throws(SessionError) { value = try await session.read(.led) } catch { return .reported }
        let sendings = LEDOracle.questions(bench, from: start)
        guard let first = sendings.first, LEDOracle.told(bench, from: first).contains(value.isLit) else {
            return .failed("\(value) is shown, and what came is \(LEDOracle.told(bench, from: start))")
        }
        return await bench.truth() == value.isLit ? .right(asked: sendings.count) : .undetectable
    }

    private static func write(_ bench: Bench, _ session: LEDSession, _ isLit: Bool) async -> Outcome {
        let start = bench.tape.end
        let before = await bench.truth()
        do throws(SessionError) { try await session.write(.boolean(isLit), to: .led) } catch {
            return await judge(error, bench, isLit, from: start, before)
        }
        return await judge(bench, isLit, from: start)
    }

    private static func toggle(_ bench: Bench, _ session: LEDSession) async -> Outcome {
        let start = bench.tape.end
        do throws(SessionError) {
            let value = try await session.toggle(.led)
            // The toggle must be based on a value that was delivered.
            guard LEDOracle.told(bench, from: start).contains(!value.isLit) else {
                return .failed("the LED is toggled to \(value), and what came is \(LEDOracle.told(bench, from: start))")
            }
            return await judge(bench, value.isLit, from: start)
        } catch {
            return .reported
        }
    }

    /// Judges a change that the host reports as done.
    private static func judge(_ bench: Bench, _ isLit: Bool, from start: Int) async -> Outcome {
        let sendings = LEDOracle.changes(bench, to: isLit, from: start)
        // On a line the reply to the change could be an echo of the command, so the host must query the LED after it.
        let questions = LEDOracle.questions(bench, from: sendings.first ?? start)
        let isAnswered = questions.first.map { LEDOracle.told(bench, from: $0).contains(isLit) } ?? false
        let isConfirmed = sendings.first.map { LEDOracle.isConfirmed(bench, from: $0) } ?? false
        guard isAnswered || isConfirmed else {
            return .failed("LED:\(isLit) is called done, and what came is \(LEDOracle.told(bench, from: start))")
        }
        // The first query after the change belongs to it. Only further ones show that something was repeated.
        let asked = sendings.count + max(questions.count, 1) - 1
        return await bench.truth() == isLit ? .right(asked: asked) : .undetectable
    }

    /// Judges a change that the host does not report as done.
    private static func judge(
        _ error: SessionError, _ bench: Bench, _ isLit: Bool, from start: Int, _ before: Bool
    ) async -> Outcome {
        let after = await bench.truth()
        let sendings = LEDOracle.changes(bench, to: isLit, from: start)
        switch error.outcome {
        case .notSent where !sendings.isEmpty: return .failed("LED:\(isLit) is called not sent, and was")
        case .nothingChanged where before != isLit && after == isLit:
            guard LEDOracle.told(bench, from: sendings.first ?? start).contains(!isLit) else {
                return .failed("LED:\(isLit) is called without effect, and nothing has told so")
            }
            return .undetectable
        default: return .reported
        }
    }

    private static func follow(_ bench: Bench) async -> Outcome {
        let start = bench.tape.end
        do {
            let link = try await bench.link()
            let monitor = try await LEDMonitor(
                over: link, bench.reconnector(link), clock: bench.clock, executor: bench.executor)
            let log = UpdateLog()
            let reading = Task(executorPreference: bench.executor) {
                for try await update in monitor { log.add(entry(update)) }
            }
            // The monitor queries the board every 5 s.
            await bench.pass(.seconds(13))
            let told = LEDOracle.told(bench, from: start).map { "\($0)" }
            let outcome = log.conclude(by: "\(await bench.truth())", told: told)
            await monitor.close()
            _ = await reading.result
            return outcome
        } catch {
            return .reported
        }
    }

    private static func entry(_ update: DeviceUpdate<LEDFamily>) -> UpdateLog.Entry {
        switch update.event {
        case .lost, .unanswered: .trouble
        case .status, .heard, .alarm, .back: update.state.values[.led].map { .shown("\($0.isLit)") } ?? .unknown
        }
    }
}

extension LEDValue {
    fileprivate var isLit: Bool { self == .boolean(true) }
}

/// Parses an LED board's traffic as in docs/protocols.md, independently of the host's code.
enum LEDOracle {
    /// The LED states that were delivered from `start` on.
    static func told(_ bench: FaultBench<Bool>, from start: Int) -> [Bool] {
        guard bench.isRadio else {
            return bench.tape.lines(from: start).compactMap { $0 == "LED:1" ? true : $0 == "LED:0" ? false : nil }
        }
        return bench.tape.entries(from: start).compactMap { entry in
            switch entry {
            case .delivered(let value), .read(let value): value.count == 1 ? value[0] != 0 : nil
            case .sent, .confirmed, .opened, .dropped: nil
            }
        }
    }

    /// For each query of the host from `start` on, the position from which its reply can be on the tape. Over BLE that
    /// is the position of the read itself.
    static func questions(_ bench: FaultBench<Bool>, from start: Int) -> [Int] {
        if bench.isRadio {
            return bench.tape.entries(from: start).enumerated().compactMap { index, entry in
                if case .read = entry { start + index } else { nil }
            }
        }
        return bench.tape.sendings(of: "LED\n", from: start)
    }

    /// The positions after each write of the host, from `start` on, that sets the LED to `isLit`.
    static func changes(_ bench: FaultBench<Bool>, to isLit: Bool, from start: Int) -> [Int] {
        bench.tape.sendings(of: bench.isRadio ? (isLit ? "\u{1}" : "\0") : "LED:\(isLit ? 1 : 0)\n", from: start)
    }

    /// Whether the board has confirmed a write since `sending`, which happens only over BLE.
    static func isConfirmed(_ bench: FaultBench<Bool>, from sending: Int) -> Bool {
        bench.tape.entries(from: sending).contains { if case .confirmed = $0 { true } else { false } }
    }
}
