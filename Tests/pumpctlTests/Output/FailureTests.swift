import DescriptorIO
import LineProtocol
import Testing
import Verification

@testable import DeviceKit
@testable import pumpctl

@Suite("Messages of failed commands")
struct FailureTests {
    private static let endpoints = [
        "/dev/ttyUSB0", "usb:1a86:7523", "ble:HMSoft", "tcp:bench:4000", "unix:/run/pump", "sim:pump",
    ]

    private static let errors: [SessionError] = [
        SessionError(.refused, command: "SPEED:9", outcome: .nothingChanged, deviceCode: "UNKNOWN_COMMAND"),
        SessionError(.noAnswer, command: "ON", outcome: .unknown, waited: .seconds(8)),
        SessionError(.noAnswer, command: "STATUS", outcome: .nothingChanged, waited: .seconds(8)),
        SessionError(.notUnderstood, command: "ON", outcome: .unknown, foreignLine: [1, 2, 3]),
        SessionError(.notUnderstood, command: "STATUS", outcome: .nothingChanged, foreignLine: Array("HUH".utf8)),
        SessionError(.cancelled, command: "ON", outcome: .unknown),
    ]

    @Test("A message names the device, and its hint has no empty part", arguments: endpoints)
    func words(endpoint: String) {
        for error in Self.errors {
            for family in Family.all {
                let failure = Failure(error, family, at: DevicePlace(endpoint))
                #expect(failure.message.hasPrefix("\(endpoint): "))
                #expect(failure.hint?.hasSuffix("; ") != true && failure.hint?.isEmpty != true)
            }
        }
    }

    @Test("Hints mention cables and baud rates only for serial ports", arguments: endpoints)
    func carriers(endpoint: String) {
        let place = DevicePlace(endpoint)
        for error in Self.errors {
            let hint = Failure(error, .pump, at: place).hint ?? ""
            #expect(place.carrier == .cable || !hint.contains("baud"), "\(hint)")
        }
        let lost = LinkError(.disconnected, name: endpoint, activity: "receive")
        let broken = SessionError(.linkLost, command: "ON", outcome: .unknown, link: lost)
        for failure in [Failure(broken, .pump), Failure(broken, .pump, at: place)] {
            let hint = failure.hint ?? ""
            #expect(hint.contains("plug") == (place.carrier == .cable), "\(hint)")
            #expect(hint.contains("ask for its state: pumpctl status"))
        }
    }

    @Test("An error that only means that a command was cancelled is an interruption")
    func interruptions() {
        let errors: [any Error] = [
            CancellationError(), SessionError(.cancelled, command: "the first query", outcome: .notSent),
            LinkError(.cancelled, name: "sim:pump", activity: "open"), DescriptorError(.cancelled, call: "read"),
        ]
        for error in errors { #expect(error.isInterruption, "\(error)") }
        #expect(!SessionError(.noAnswer, command: "ON", outcome: .unknown).isInterruption)
    }

    @Test("Hints suit the kind of endpoint, and name doctor only if it can examine the device")
    func places() {
        let lost = SessionError(
            .linkLost, command: "ON", outcome: .unknown, link: LinkError(.disconnected, name: "", activity: "receive"))
        for path in ["/tmp/pump", "./pump", "/dev/pts/7"] {
            #expect(Failure(lost, .pump, at: DevicePlace(path)).hint?.hasPrefix("restart the program") == true)
            let silence = SessionError(.noAnswer, command: "STATUS", outcome: .nothingChanged, waited: .seconds(3))
            let hint = Failure(silence, .pump, at: DevicePlace(path)).hint ?? ""
            #expect(hint.contains("raise --timeout") && !hint.contains("baud"), "\(hint)")
        }
        let silence = SessionError(.noAnswer, command: "OFF", outcome: .unknown)
        for (endpoint, command) in [
            ("/dev/ttyUSB0", "pumpctl doctor /dev/ttyUSB0"), ("ble:My Pump", "pumpctl doctor 'ble:My Pump'"),
            ("shared:pump", "pumpctl doctor shared:pump"), ("tcp:bench:4000", nil), ("sim:pump", nil),
        ] as [(String, String?)] {
            let hint = Failure(off: silence, at: DevicePlace(endpoint)).hint ?? ""
            #expect(hint.hasPrefix(Failure.offByHand))
            #expect(command.map { hint.hasSuffix("find the cause: \($0)") } ?? !hint.contains("doctor"), "\(hint)")
        }
    }

    @Test(
        "A name in a suggested command is quoted for the shell",
        arguments: [
            ("ble:HMSoft", "ble:HMSoft"), ("/dev/serial/by-id/usb-1a86_A-if00", "/dev/serial/by-id/usb-1a86_A-if00"),
            ("ble:My Pump", "'ble:My Pump'"), ("ble:*", "'ble:*'"), ("ble:$(x)", "'ble:$(x)'"), ("", "''"),
            ("ble:Bob's", "'ble:Bob'\\''s'"), ("ble:Pümpe", "ble:Pümpe"),
        ])
    func shellWord(text: String, word: String) { #expect(text.asWord == word) }

    @Test("The hint names the baud rate of the endpoint, else of the family")
    func baudRate() {
        let silence = SessionError(.noAnswer, command: "STATUS", outcome: .nothingChanged)
        let named = Failure(silence, .pump, at: DevicePlace("serial:/dev/ttyUSB0?baud=4800"))
        #expect(named.hint?.contains("baud rate 4800") == true)
        #expect(Failure(silence, .led).hint?.contains("baud rate 115200") == true)
    }

    @Test(
        "A readable reply rules out a wrong baud rate", arguments: [("TEMP:34.5°C", false), ("\u{1}\u{3}x", true)])
    func text(line: String, mayBeRate: Bool) {
        let error = SessionError(.notUnderstood, command: "X", outcome: .nothingChanged, foreignLine: Array(line.utf8))
        let hint = Failure(error, .pump, at: DevicePlace("/dev/ttyUSB0")).hint
        #expect(hint?.contains("baud rate") == mayBeRate)
    }

    @Test(
        "A reply of another family is recognised",
        arguments: [
            (Family.led, "ERROR:UNKNOWN_COMMAND", Family.pump), (.led, "STATUS:{State:OFF}", .pump),
            (.pump, "LED:0", .led), (.pump, "LOG Values: ", .storm), (.pump, "LIVE LOG: 1 2 3 4", .storm),
            (.led, "HELLO from Desk @ 2026-11-20T17:04:00Z", .peer), (.storm, "IMG_ERROR not_png", .peer),
            (.pump, "{\"id\":\"6F1E2C1A\"", .rescue),
        ])
    func otherFamily(family: Family, line: String, other: Family) {
        let error = SessionError(.notUnderstood, command: "X", outcome: .nothingChanged, foreignLine: Array(line.utf8))
        let hint = Failure(error, family, at: DevicePlace("/dev/ttyUSB0")).hint
        #expect(hint == "use a command of the family \(other): pumpctl --help; or name another device with --port")
    }

    @Test("If the pump is known to be off after a failed run, this is reported in place of an unknown outcome")
    func knownEffect() {
        let error = SessionError(.noAnswer, command: "ON", outcome: .unknown)
        let failure = Failure(PumpRunError(.failed(error)))
        #expect(failure.message == "no answer to ON; the pump is off")
        #expect(failure.outcome == "off")
        #expect(failure.hint?.contains("ask for") == false)
    }

    @Test("A failed run that may leave the pump on has a warning")
    func perhapsOn() {
        let silence = SessionError(.noAnswer, command: "OFF", outcome: .unknown)
        let gone = LinkError(.disconnected, name: "/dev/x", activity: "open")
        for cause in [
            PumpRunError.Cause.offFailed(silence, after: nil), .offFailed(silence, after: silence), .goneForGood(gone),
        ] {
            let failure = Failure(PumpRunError(cause))
            #expect(failure.message.contains("the pump may be on"))
            #expect(failure.outcome == "unknown")
        }
        #expect(Failure(PumpRunError(.notBack(gone))).outcome == "unknown")
        for cause in [PumpRunError.Cause.notBack(gone), .goneForGood(gone)] {
            #expect(Failure(PumpRunError(cause)).hint == Failure.offByHand)
        }
        // The hint must not say to switch the device on: its user wants the pump off.
        let away = SessionError(.deviceAway, command: "OFF", outcome: .unknown)
        #expect(Failure(off: away).hint == "plug the device in again; if the pump runs, switch off its supply")
        #expect(
            PumpRun.Report.offUnanswered(silence).note
                == "pumpctl: no answer to OFF; the pump may be on; OFF is repeated until the pump is off; a second signal gives up"
        )
    }

    @Test("An acknowledged OFF without confirmed effect is a failure")
    func unconfirmedOff() {
        var running = SessionError(.notInEffect, command: "OFF", outcome: .unknown)
        running.deviceState = "ON"
        let failure = Failure(off: running)
        #expect(failure.status == .protocolError && failure.outcome == "unknown")
        #expect(failure.message == "the pump acknowledged OFF, but its status says ON; the pump may be on")
        let unread = Failure(off: SessionError(.unconfirmed, command: "OFF", outcome: .unknown))
        #expect(unread.status == .temporaryFailure && unread.outcome == "unknown")
        #expect(
            unread.message
                == "OFF was acknowledged, but the state of the pump could not be read; the pump may be on")
        // The button toggles, and so would start a pump that is off.
        for hint in [failure.hint, unread.hint] {
            #expect(hint?.contains("its button, which toggles, but only while you see or hear it run") == true)
        }
    }

    @Test("The hint on a pumpctl that has the port and does not reply does not suggest to kill it")
    func silentHolder() throws {
        let holder = LinkHolder(processID: 4711, command: "pumpctl")
        func hint(_ code: String, isStopped: Bool = false) throws -> String {
            var error = OffByOtherError(OffFailure(status: 69, code: code, message: "it did not answer"), holder)
            error.isHolderStopped = isStopped
            let failure = try #require(Failure(offFailing: error, at: nil))
            #expect(failure.message.hasPrefix("pumpctl (pid 4711) has the device: "))
            return try #require(failure.hint)
        }
        let again = "repeat it: pumpctl off; if that fails, switch off the supply of the pump; or press its button"
        #expect(try hint("busy").hasPrefix(again))
        #expect(try hint("busy", isStopped: true).hasPrefix("resume it: kill -CONT 4711; then \(again)"))
        #expect(try hint("no_stop").hasPrefix("end that program where it was started; then \(again)"))
    }

    @Test(
        "If OFF cannot reach the pump, the hint names its supply, unless the endpoint must be changed",
        arguments: [
            (.busy, true), (.notFound, true), (.timedOut, true), (.notPermitted, true), (.unavailable, true),
            (.invalidEndpoint, false), (.ambiguous, false), (.changedDevice, false),
        ] as [(LinkError.Code, Bool)])
    func unreachablePump(code: LinkError.Code, isNamed: Bool) throws {
        let error = LinkError(code, name: "/dev/x", activity: "open", hint: code == .timedOut ? nil : "do this")
        let failure = try #require(Failure(offFailing: error, at: nil))
        #expect(failure.message.hasSuffix("; OFF was not sent: the pump may be on"))
        #expect(failure.hint?.hasSuffix("; if the pump runs, switch off its supply") == isNamed)
        #expect(failure.hint?.hasPrefix("; ") == false)
    }

    @Test("If another program has the port, or the link breaks at OFF, the hint says to repeat OFF")
    func repeatedOff() throws {
        let busy = LinkError(.busy, name: "/dev/x", activity: "open", hint: "resume it: kill -CONT 7")
        #expect(
            try #require(Failure(offFailing: busy, at: nil)).hint
                == "resume it: kill -CONT 7; then repeat it: pumpctl off; if the pump runs, switch off its supply")
        let lost = SessionError(
            .linkLost, command: "OFF", outcome: .unknown,
            link: LinkError(.disconnected, name: "/dev/x", activity: "send"))
        #expect(Failure(off: lost).hint?.contains("repeat it: pumpctl off") == true)
    }

    @Test("A verification that may leave the pump on ends with status 2 and a message")
    func unsafeVerification() {
        var verdict = FirmwareVerdict()
        verdict.results = [
            CheckResult(
                id: "pump.off.stops", rule: "protocols.md#pump-19: OFF always works",
                outcome: .failed(expected: "", got: ""))
        ]
        let failure = FirmwareVerification.unsafeEnding(
            .perhapsOn("its status says ON"), nil, of: verdict, isPump: true)
        #expect(failure?.status == .checkFailed && failure?.outcome == "unknown")
        #expect(failure?.message == "its status says ON; the pump may be on")
        #expect(failure?.mustBeSaid == true)
        let peer = FirmwareVerification.unsafeEnding(.perhapsOn("OFF was not sent"), nil, of: verdict, isPump: false)
        #expect(peer?.message == "OFF was not sent; the output of the peer may be on")
        #expect(peer?.hint == "switch the output off: pumpctl peer toggle off")
    }

    @Test(
        "A link's failure names the device and the problem once",
        arguments: [
            (LinkError(.notFound, name: "/dev/x", activity: "open"), "/dev/x: no such port or device"),
            (
                LinkError(
                    .busy, name: "/dev/x", activity: "open", holder: LinkHolder(processID: 7, command: "pumpctl")),
                "/dev/x: busy: open in pumpctl (pid 7)"
            ),
            (
                LinkError(.busy, name: "ble:X", activity: "open", detail: "another program is subscribed to FFE1"),
                "ble:X: busy: another program is subscribed to FFE1"
            ),
            (
                LinkError(.system, name: "/dev/x", activity: "open", detail: "Too many open files"),
                "/dev/x: Too many open files"
            ),
            (LinkError(.invalidEndpoint, name: "", activity: "read"), "'': not a valid endpoint"),
        ])
    func links(error: LinkError, text: String) {
        #expect(error.description == text)
    }
}
