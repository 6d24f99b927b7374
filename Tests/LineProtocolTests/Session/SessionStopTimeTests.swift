import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

/// The time limit of OFF, for a pump that is busy, is silent, or does not obey.
@Suite struct SessionStopTimeTests {
    /// A pump that reads one line per turn of its loop, which takes 159 ms, and buffers 63 bytes of input.
    private final class SlowPump: @unchecked Sendable {
        // @unchecked: used on the simulated loop's thread only.
        let loop = SimulatedLoop()
        private(set) var link: SimulatedLink!
        var isOn = true
        /// Whether the pump acknowledges OFF and keeps running.
        var ignoresOff = false
        /// Whether the pump replies to STATUS.
        var tellsState = true
        var isMute = false
        /// Whether the pump refuses every command.
        var refuses = false
        /// The times at which an OFF was written.
        private(set) var stops: [Duration] = []
        private var waiting: [UInt8] = []
        private var isBusy = false

        init() {
            link = SimulatedLink(loop) { [unowned self] bytes in
                // The first byte is a line end, which ends another program's half line.
                if bytes.count > 4, bytes[1...].starts(with: Array("OFF".utf8)) { stops.append(loop.now) }
                take(bytes)
            } onEnd: {
            }
        }

        func take(_ bytes: [UInt8]) {
            waiting += bytes.prefix(63 - waiting.count)
            guard !isBusy else { return }
            isBusy = true
            loop.at(loop.now + .milliseconds(159)) { [self] in turn() }
        }

        private func turn() {
            isBusy = false
            while waiting.first == 0x0A { waiting.removeFirst() }
            guard let end = waiting.firstIndex(of: 0x0A) else { return }
            let line = String(decoding: waiting[..<end], as: UTF8.self)
            waiting.removeFirst(end + 1)
            let answer = answer(to: line)
            if !answer.isEmpty { link.arrive(Array(answer.utf8)) }
            take([])
        }

        private func answer(to line: String) -> String {
            switch line {
            case _ where isMute: return ""
            case _ where refuses: return "ERROR:UNKNOWN_COMMAND\r\n"
            case "OFF":
                isOn = ignoresOff && isOn
                return "OK\r\nPUMP:OFF\r\n"
            case "TEMP": return "TEMP:34.5\r\n"
            case "STATUS" where tellsState: return "STATUS:{State:\(isOn ? "ON" : "OFF"),SkinTemp:34.5C}\r\n"
            case "STATUS": return ""
            default: return "ERROR:UNKNOWN_COMMAND\r\n"
            }
        }

        /// Switches the pump off through a session. Returns nil if that takes longer than 100 s.
        func turnOff(timeout: Duration = .seconds(3)) -> Result<Void, SessionError>? {
            let box = Watched<Result<Void, SessionError>?>(nil)
            _ = loop.run(limit: .seconds(100)) { [self] in
                do throws(SessionError) {
                    let clock = SimulatedClock(loop: loop)
                    let session = try await PumpSession.begin(over: link, clock: clock, waitsUntilReady: false)
                    try await session.turnOff(timeout: timeout)
                    box.update { $0 = .success(()) }
                } catch {
                    box.update { $0 = .failure(error) }
                }
            }
            return box.state
        }

        func failure(timeout: Duration = .seconds(3)) -> SessionError? {
            if case .failure(let error) = turnOff(timeout: timeout) { error } else { nil }
        }
    }

    // 31 lines of two bytes are the most that fit into the pump's buffer.
    @Test(arguments: [1, 10, 20, 31])
    func `OFF gets through after many short lines of another program`(count: Int) throws {
        let pump = SlowPump()
        pump.take(Array(String(repeating: "x\n", count: count).utf8))
        try #require(pump.turnOff()).get()
        #expect(!pump.isOn)
    }

    // The first line comes after 159 ms. The acknowledgement, the fence and the status take longer than these times.
    @Test(arguments: [170, 200, 300, 500])
    func `OFF with a short timeout is confirmed if the pump answers`(milliseconds: Int) throws {
        let pump = SlowPump()
        pump.take(Array("OFF\nOFF\n".utf8))
        try #require(pump.turnOff(timeout: .milliseconds(milliseconds))).get()
        #expect(pump.loop.now < .seconds(3), "\(pump.loop.now)")
    }

    @Test func `A device that always refuses OFF is reported within the timeout plus 6 s`() {
        let pump = SlowPump()
        pump.refuses = true
        let error = pump.failure()
        #expect(error?.code == .refused && error?.outcome == .unknown)
        // The timeout is 3 s, and `Session.stopExtension` 6 s.
        #expect(pump.loop.now > .seconds(8) && pump.loop.now < .seconds(10), "\(pump.loop.now)")
    }

    @Test func `A silent device is waited for exactly until the timeout`() {
        let pump = SlowPump()
        pump.isMute = true
        #expect(pump.failure()?.code == .noAnswer)
        #expect(pump.loop.now == .seconds(3), "\(pump.loop.now)")
    }

    @Test func `A pump that ignores OFF gets it every 0.5 s and is reported as running`() {
        let pump = SlowPump()
        pump.ignoresOff = true
        let error = pump.failure()
        #expect(error?.code == .notInEffect && error?.deviceState == "ON" && error?.outcome == .unknown)
        #expect(pump.stops.count >= 5)
        #expect(zip(pump.stops, pump.stops.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(500) }, "\(pump.stops)")
        #expect(pump.loop.now < .seconds(4), "\(pump.loop.now)")
    }

    @Test func `An acknowledgement without a status does not confirm OFF`() {
        let pump = SlowPump()
        pump.tellsState = false
        let error = pump.failure()
        #expect(error?.code == .unconfirmed && error?.outcome == .unknown)
        #expect(pump.loop.now < .seconds(10), "\(pump.loop.now)")
    }
}
