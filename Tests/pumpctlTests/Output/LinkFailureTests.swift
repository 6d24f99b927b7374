import LineProtocol
import Testing
import Transports

@testable import pumpctl

@Suite struct LinkFailureTests {
    @Test(
        "Each link error has its exit status",
        arguments: [
            (.invalidEndpoint, 64), (.wrongFamily, 64), (.unsupported, 64), (.notFound, 66), (.ambiguous, 66),
            (.changedDevice, 66), (.unfit, 66), (.busy, 69), (.unavailable, 69), (.disconnected, 74), (.closed, 74),
            (.system, 74),
            (.timedOut, 75), (.notPermitted, 77), (.cancelled, 130),
        ] as [(LinkError.Code, Int32)])
    func status(code: LinkError.Code, status: Int32) {
        let failure = Failure(LinkError(code, name: "serial:/dev/ttyUSB0", activity: "open"))
        #expect(failure.status.rawValue == status)
        #expect(failure.code == code.rawValue)
    }

    @Test("Remedies of link errors are worded as pumpctl's options")
    func remedy() throws {
        let family = LinkError(.wrongFamily, name: "ble:Odd", activity: "open", remedy: .useAs(family: "led"))
        #expect(Failure(family).hint == "use a command of the family led, or --family led")
        let scheme = try #require(throws: LinkError.self) { try Endpoint("tcp:") }
        #expect(Failure(scheme).hint == "add a device after 'tcp:': see pumpctl --help")
        let noBreak = LinkError(.unsupported, name: "tcp:x:1", activity: "send a break", remedy: .sendNoBreak)
        #expect(Failure(noBreak).hint == "omit --break: only a serial port has a break condition")
        // The hint suggests no certain time, because the user's --timeout may already be longer.
        let late = LinkError(.timedOut, name: "ble:HMSoft?pair", activity: "open")
        #expect(
            Failure(late).hint == "raise --timeout, or find the cause: pumpctl doctor ble:HMSoft")
    }
}
