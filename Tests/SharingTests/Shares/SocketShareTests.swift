import DescriptorIO
import DeviceKit
import FirmwareSim
import LineProtocol
import TestSupport
import Testing
import Transports

@testable import Sharing

@Suite("A device shared at a socket")
struct SocketShareTests {
    @Test("answers each client what it has asked, and nobody else", .timeLimit(.minutes(1)))
    func answers() async throws {
        try await SharedPump.run { pump in
            let first = try await pump.client()
            let second = try await pump.client()
            try await first.say("STATUS\n")
            #expect(try await first.line().hasPrefix("STATUS:{State:OFF"))
            try await second.say("speed: 7\nON\nFOO\n")
            #expect(try await second.line() == "ERROR:PUMP_NOT_RUNNING")
            #expect(try await second.line() == "OK")
            #expect(try await second.line() == "PUMP:ON")
            #expect(try await second.line() == "ERROR:UNKNOWN_COMMAND")
            try await first.say("OFF\n")
            #expect(try await first.line() == "OK")
            #expect(try await first.line() == "PUMP:OFF")
        }
    }
}
