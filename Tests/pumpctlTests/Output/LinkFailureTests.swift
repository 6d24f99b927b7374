import LineProtocol
import Testing

@testable import pumpctl

@Suite struct LinkFailureTests {
    @Test(
        "What failed on a link has its exit status; a time-out is worth another try",
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
}
