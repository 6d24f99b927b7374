import DeviceKit
import FirmwareSim
import LineProtocol

/// A host that queries a pump, switches it on, sets its speed, switches it off, and then follows it.
enum PumpFaultScript: FaultScript {
    struct Truth: Sendable {
        /// `ON`, `OFF` or `ERROR`.
        var state: String
        /// The motor's PWM value.
        var duty: Int
        /// The pump's output before any fault.
        var said: [String]
    }

    typealias Bench = FaultBench<Truth>

    static let family = "pump"
    static let steps = ["status", "temp", "on", "speed", "status", "off", "follow"]

    static func run(_ bench: Bench) async -> [Outcome] {
        let session = RenewedSession<Truth, PumpFamily>(bench)
        var outcomes = [
            await session.perform { await readStatus(bench, $0) },
            await session.perform { await readTemperatures(bench, $0) },
            await session.perform { session in
                await change(bench, "ON", told: "PUMP:ON", isSo: { $0.state == "ON" }) {
                    () throws(SessionError) in try await session.turnOn()
                }
            },
            await session.perform { session in
                await change(bench, "SPEED:200", told: "SPEED:200", isSo: { $0.duty == 200 }) {
                    () throws(SessionError) in try await session.setSpeed(PumpSpeed(pwm: 200) ?? .initial)
                }
            },
            await session.perform { await readStatus(bench, $0) },
            await session.perform { await switchOff(bench, $0) },
        ]
        await session.close()
        outcomes.append(await follow(bench))
        return outcomes
    }

    // MARK: Queries

    private static func readStatus(_ bench: Bench, _ session: PumpSession) async -> Outcome {
        let (start, saidBefore) = (bench.tape.end, await bench.truth().said.count)
        let status: PumpStatus
        do throws(SessionError) { status = try await session.readStatus() } catch { return .reported }
        // A damaged status may have no state, which the session reports as unknown.
        guard status.power != .unknown else { return .reported }
        return await judge(bench, status.shownFields, of: "STATUS", from: start, saidBefore) { fields, truth in
            fields["State"] == truth.state
                && (truth.state != "ON" || fields["Speed"] == "\(truth.duty * 100 / 255)")
        }
    }

    private static func readTemperatures(_ bench: Bench, _ session: PumpSession) async -> Outcome {
        let (start, saidBefore) = (bench.tape.end, await bench.truth().said.count)
        do throws(SessionError) {
            let temperatures = try await session.readTemperatures()
            return await judge(bench, temperatures.shownFields, of: "TEMP", from: start, saidBefore) { _, _ in true }
        } catch {
            return .reported
        }
    }

    /// Judges a reply that the host shows.
    ///
    /// - Parameters:
    ///   - shown: The fields that the host shows.
    ///   - command: The query.
    ///   - saidBefore: The number of lines that the pump had sent before the query. They are no reply to it.
    ///   - isCurrent: Whether the shown fields agree with the pump's present state.
    private static func judge(
        _ bench: Bench, _ shown: [String: String], of command: String, from start: Int, _ saidBefore: Int,
        isCurrent: ([String: String], Truth) -> Bool
    ) async -> Outcome {
        let truth = await bench.truth()
        let sendings = bench.tape.sendings(of: command, from: start)
        guard let first = sendings.first else { return .failed("\(command) is answered that was not sent") }
        let lines = bench.tape.lines(from: first).filter { $0.hasPrefix(command) && PumpOracle.fields(of: $0) == shown }
        guard !lines.isEmpty else {
            return .failed("\(shown) is shown, and what came is \(bench.tape.lines(from: first))")
        }
        guard lines.contains(where: { truth.said[saidBefore...].contains($0) }), isCurrent(shown, truth) else {
            return .undetectable
        }
        return .right(asked: sendings.count)
    }

    // MARK: Changes

    /// Makes a change by `body`, and judges what the host says of it.
    ///
    /// - Parameters:
    ///   - echo: The line with which the pump confirms the command.
    ///   - isSo: Whether the change is made.
    private static func change(
        _ bench: Bench, _ command: String, told echo: String, isSo: (Truth) -> Bool,
        _ body: () async throws(SessionError) -> Void
    ) async -> Outcome {
        let start = bench.tape.end
        let before = isSo(await bench.truth())
        do throws(SessionError) { try await body() } catch {
            let after = isSo(await bench.truth())
            return judge(error, of: command, bench.tape, from: start, hasChanged: after && !before)
        }
        let sendings = bench.tape.sendings(of: command, from: start)
        let lines = sendings.first.map { bench.tape.lines(from: $0) } ?? []
        guard lines.contains(echo) else {
            return .failed("\(command) is called done, and what came is \(lines)")
        }
        return isSo(await bench.truth()) ? .right(asked: sendings.count) : .undetectable
    }

    /// Judges a change that the host does not report as done.
    private static func judge(
        _ error: SessionError, of command: String, _ tape: Tape, from start: Int, hasChanged: Bool
    ) -> Outcome {
        let sendings = tape.sendings(of: command, from: start)
        switch error.outcome {
        case .notSent where !sendings.isEmpty: return .failed("\(command) is called not sent, and was")
        case .nothingChanged where hasChanged:
            let lines = tape.lines(from: sendings.first ?? start)
            guard lines.contains(where: PumpOracle.isRefusal) else {
                return .failed("\(command) is called refused, and what came is \(lines)")
            }
            return .undetectable
        default: return .reported
        }
    }

    /// Switches the pump off. The host may call OFF done only after a STATUS sent later was answered with `OFF`.
    private static func switchOff(_ bench: Bench, _ session: PumpSession) async -> Outcome {
        let start = bench.tape.end
        do throws(SessionError) { try await session.turnOff() } catch { return .reported }
        let sendings = bench.tape.sendings(of: "OFF", from: start)
        guard let first = sendings.first else { return .failed("OFF is called done, and was not sent") }
        let questions = bench.tape.sendings(of: "STATUS", from: first)
        let isAnswered = questions.first.map { question in
            bench.tape.lines(from: question).contains { $0.hasPrefix("STATUS:") && PumpOracle.power(by: $0) == "OFF" }
        }
        guard isAnswered == true else {
            return .failed("OFF is called done, and what came is \(bench.tape.lines(from: first))")
        }
        let isOff = await bench.truth().state == "OFF"
        return isOff ? .right(asked: max(sendings.count, questions.count)) : .undetectable
    }

    // MARK: Following

    /// Follows the pump through losses of the link, for 13 s: the monitor queries it every 5 s.
    private static func follow(_ bench: Bench) async -> Outcome {
        let start = bench.tape.end
        do {
            let link = try await bench.link()
            let monitor = try await PumpMonitor(
                over: link, bench.reconnector(link), clock: bench.clock, executor: bench.executor)
            let log = UpdateLog()
            let reading = Task(executorPreference: bench.executor) {
                for try await update in monitor { log.add(entry(update)) }
            }
            await bench.pass(.seconds(13))
            let told = bench.tape.lines(from: start).compactMap(PumpOracle.power)
            let outcome = log.conclude(by: await bench.truth().state, told: told)
            await monitor.close()
            _ = await reading.result
            return outcome
        } catch {
            return .reported
        }
    }

    private static func entry(_ update: PumpUpdate) -> UpdateLog.Entry {
        switch update.event {
        case .lost, .unanswered: return .trouble
        case .status, .heard, .alarm, .back: break
        }
        let power = update.state.power
        return power == .unknown ? .unknown : .shown(power.rawValue.uppercased())
    }
}
