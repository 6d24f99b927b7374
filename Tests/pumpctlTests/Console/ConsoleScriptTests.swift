import LineProtocol
import Testing

@testable import DeviceKit
@testable import pumpctl

@Suite("Console lines from a pipe")
struct ConsoleScriptTests {
    private let start = Duration.zero
    private let place = DevicePlace("/dev/ttyUSB0")

    /// The result of a script with one line, which was sent and got `answer`, if any.
    private func result(answeredBy answer: String?, for family: Family) -> ConsoleResult {
        var script = ConsoleScript()
        script.append(Array("LINE\n".utf8))
        script.end(at: start)
        _ = script.stopWaiting()
        if let line = script.nextLine() { script.waitForAnswer(to: line, from: start) }
        if let answer {
            script.heard(at: start)
            let line = DeviceLine(text: answer, hasEnd: true, isContinuation: false)
            script.take(line, of: family)
        }
        _ = script.stopWaiting()
        return script.result
    }

    /// The failure with which the console ends after such a script; nil for none.
    private func failure(answeredBy answer: String?, for family: Family) -> Failure? {
        let result = result(answeredBy: answer, for: family)
        do throws(Failure) { try result.conclude(.seconds(8), family, at: place) } catch { return error }
        return nil
    }

    @Test(
        "Only error lines of the device's own family count as errors",
        arguments: [
            (Family.pump, "ERROR:OVERHEAT", "OVERHEAT"), (.pump, "IMG_ERROR not_png", nil),
            (.peer, "IMG_ERROR not_png", "not_png"), (.peer, "ERROR:OVERHEAT", nil), (.storm, "ERROR:OVERHEAT", nil),
            (.led, "ERROR:OVERHEAT", nil), (.rescue, "ERROR:OVERHEAT", nil),
        ] as [(Family, String, String?)])
    func errors(family: Family, answer: String, code: String?) {
        let failure = failure(answeredBy: answer, for: family)
        #expect(failure?.deviceCode == code)
        #expect(failure?.status == code.map { _ in .refused })
    }

    @Test("An unanswered line is named, for every family", arguments: Family.all)
    func silence(family: Family) {
        let failure = failure(answeredBy: nil, for: family)
        #expect(failure?.status == .temporaryFailure)
        #expect(failure?.message == "/dev/ttyUSB0: no answer to 'LINE' in 8 s")
        #expect(failure?.hint?.contains("baud rate \(family.baudRate)") == true)
    }

    @Test("An unanswered line is a failure, even if a later line gets a reply")
    func silenceBefore() throws {
        var script = ConsoleScript()
        script.append(Array("ONE\nTWO\n".utf8))
        let first = script.nextLine()
        script.waitForAnswer(to: try #require(first), from: start)
        let silent = script.stopWaiting()
        #expect(silent == Array("ONE".utf8))
        let second = script.nextLine()
        script.waitForAnswer(to: try #require(second), from: start)
        script.heard(at: start)
        let answered = script.stopWaiting()
        #expect(answered == nil)
        let failure = #expect(throws: Failure.self) { try script.result.conclude(.seconds(8), .pump, at: place) }
        #expect(failure?.message.contains("no answer to 'ONE'") == true)
    }

    @Test(
        "Lines that a broken link left unsent are counted",
        arguments: [
            ("", false, "; not sent: the rest of the input"), ("", true, ""), ("A\n", true, "; not sent: 1 line"),
            ("A\nB", true, "; not sent: 2 lines"), ("A\nB\n", false, "; not sent: 2 lines, and the rest of the input"),
            ("A\r\n\r\nB\r\n\r\n", true, "; not sent: 2 lines"),
        ])
    func loss(text: String, hasEnded: Bool, unsent: String) {
        var script = ConsoleScript()
        script.append(Array(text.utf8))
        if hasEnded { script.end(at: start) }
        let gone = LinkError(.system, name: "bench", activity: "read", detail: "gone")
        let error = ScriptLossError(
            link: gone, pending: nil, unsentCount: script.unsentCount, mayFollow: !script.hasEnded)
        #expect(Failure(error, at: place).message == "the link broke: bench: gone\(unsent)")
    }
}
