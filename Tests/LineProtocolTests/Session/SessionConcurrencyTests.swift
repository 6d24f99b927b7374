import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct SessionConcurrencyTests {
    @Test func `A reply at the moment when the send ends is not lost`() async throws {
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    for _ in 0..<50 {
                        let bench = try await SessionBench()
                        let attempt = bench.begin(.on)
                        await bench.goesOut("ON")
                        await bench.comesIn("OK", "PUMP:ON")
                        #expect(await attempt.value == .success(.on))
                        await bench.finish()
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `A turn that becomes free at the moment of waiting is not lost`() async throws {
        let bench = try await SessionBench { _ in "TEMP:34.5\r\n" }
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<250 { _ = try await bench.session.readTemperatures() }
                }
            }
            try await group.waitForAll()
        }
        #expect(await bench.link.nextSent(2000).allSatisfy { $0 == "TEMP\n" })
        await bench.finish()
    }

    @Test func `Commands started while the session closes all end`() async throws {
        for _ in 0..<100 {
            let bench = try await SessionBench()
            async let closed: Void = bench.session.close()
            await withTaskGroup { group in
                for _ in 0..<8 { group.addTask { #expect(await bench.begin(.status).value.isFailure) } }
            }
            await closed
        }
    }

    @Test func `Commands are sent in the order in which they were started`() async throws {
        let bench = try await SessionBench()
        let attempts = (0..<100).map { bench.begin(.speed(speed($0))) }
        for (pwm, attempt) in attempts.enumerated() {
            await bench.goesOut("SPEED:\(pwm)")
            #expect(bench.link.unreadSent == [], "one command is in flight at a time")
            await bench.comesIn("OK", "SPEED:\(pwm)")
            #expect(await attempt.value == .success(.speed(speed(UInt8(pwm)))))
        }
        await bench.finish()
    }
}

extension Result {
    fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
