import DescriptorIO
import DeviceKit
import DeviceTestKit
import Glibc
import LineProtocol
import RecordFormat
import TestSupport
import Testing
import Transports

@Suite("Opening links", .timeLimit(.minutes(5)))
struct LinkOpeningTests {
    /// A link with a device identity and a note about its opening.
    private final class NamedLink: LinkWrapper {
        let link: any Link
        let deviceID: String?
        let openingNote: String? = "the phone listens too"

        init(_ link: any Link, _ deviceID: String?) {
            self.link = link
            self.deviceID = deviceID
        }
    }

    private let bare = ScriptedLink { $0 == "\nOFF\n" ? "OK\r\nPUMP:OFF\r\n" : nil }
    private let deviceID = "link-opening-test-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
    private let told = Watched<[String]>([])

    /// An opening of ``bare`` at endpoints `bench:`. Its reports are noted in ``told``, each after the link's name.
    private func opening() -> LinkOpening {
        var opening = LinkOpening(of: .pump) { [told] name, report in
            let text =
                switch report {
                case .discovery(.remark(let remark)): remark
                case .traffic(.sends(let bytes)): "> \(bytes.printable())"
                case .recording(.notBegun(let trouble)): trouble.code
                case .held(.asked): "asked"
                default: "\(report)"
                }
            told.update { $0.append("\(name): \(text)") }
        }
        opening.schemes.add("bench") { [bare, deviceID] _, _ in NamedLink(bare, deviceID) }
        return opening
    }

    private func link(_ opening: LinkOpening, for use: LinkUse = .transfer) async throws -> any Link {
        try await opening.link(to: Endpoint("bench:1"), for: use)
    }

    @Test("The opening note is reported, and the traffic if tracing is on")
    func trace() async throws {
        var opening = opening()
        try await link(opening).send(Array("A\n".utf8))
        #expect(told.state == ["bench:1: the phone listens too"])
        opening.isTraced = true
        try await link(opening).send(Array("B\n".utf8))
        #expect(told.state.dropFirst(2) == ["scripted: opened", "scripted: > B\\x0a"])
    }

    @Test("Only a link for watching is held for OFF requests")
    func holding() async throws {
        let transfer = try await link(opening())
        #expect(await OffRequest.send(for: deviceID, within: .seconds(30)) == nil)
        await transfer.close()
        let watching = try await link(opening(), for: .watching)
        let reading = Task { while try await watching.receive() != nil {} }
        #expect(await OffRequest.send(for: deviceID, within: .seconds(30)) != nil)
        #expect(told.state.last == "scripted: asked")
        await watching.close()
        try await reading.value
    }

    @Test("A link's traffic is recorded, and a recording failure is reported")
    func recording() async throws {
        var opening = opening()
        let recording = SharedRecording(of: "pump", by: CompanionProgram(path: "/no/such/program"))
        opening.recording = recording
        try await link(opening).send(Array("A\n".utf8))
        await recording.end("closed")
        #expect(told.state.last == "scripted: system")
    }

    /// An opening whose device is busy at the first `attempts` attempts. ``told`` receives the holders that are waited
    /// for.
    private func opening(
        busyFor attempts: Int = .max, holder: LinkHolder?, wait: Duration = .zero, commandWait: Duration = .zero,
        _ clock: ManualClock
    ) -> LinkOpening {
        var opening = LinkOpening(of: .pump) { [told] _, report in
            guard case .waiting(let holder) = report else { return }
            told.update { $0.append(holder.map { "\($0)" } ?? "?") }
        }
        let count = Watched(0)
        opening.schemes.add("bench") { [bare] endpoint, _ throws(LinkError) in
            guard
                count.update({
                    $0 += 1; return $0
                }) <= attempts
            else { return bare }
            throw LinkError(.busy, name: endpoint.text, activity: "open", holder: holder)
        }
        (opening.wait, opening.commandWait, opening.clock) = (wait, commandWait, clock)
        opening.daemonSockets = { [] }
        return opening
    }

    /// Opens a link; returns the error, or nil if the link was opened.
    private func failure(_ opening: LinkOpening) -> Task<LinkError?, Never> {
        Task {
            do {
                _ = try await link(opening)
                return nil
            } catch {
                return error as? LinkError
            }
        }
    }

    /// Lets the pauses between the attempts to open a busy device pass, up to `time`. They grow from 50 to 400 ms.
    private func pass(_ time: Duration, _ clock: ManualClock) async {
        var (end, pause) = (Duration.zero, Duration.milliseconds(50))
        while end < time {
            end = min(end + pause, time)
            await clock.untilSomebodySleeps(until: end)
            clock.advance(by: end - clock.now.offset)
            pause = min(pause * 2, .milliseconds(400))
        }
    }

    @Test("A busy device is waited for, and its holder is named")
    func waiting() async throws {
        let (clock, holder) = (ManualClock(), LinkHolder(processID: getppid(), command: "tio"))
        let opening = opening(busyFor: 6, holder: holder, wait: .seconds(60), clock)
        async let link = link(opening)
        await pass(.milliseconds(1550), clock)
        #expect(try await link.name == "scripted")
        #expect(told.state == ["\(holder)"])
    }

    @Test("Waiting ends at its limit, or at once if there is none")
    func givenUp() async throws {
        let (clock, holder) = (ManualClock(), LinkHolder(processID: getppid(), command: "tio"))
        let opening = opening(holder: holder, commandWait: .seconds(60), clock)
        await #expect(throws: LinkError.self) { try await link(opening) }
        #expect(clock.now.offset == .zero)
        var patient = opening
        patient.wait = .milliseconds(200)
        let failing = failure(patient)
        await pass(.milliseconds(200), clock)
        #expect(await failing.value?.code == .busy)
        #expect(told.state == [])
    }

    @Test(
        "A holder that can't be found is waited for briefly, or longer if it must have ended",
        arguments: [true, false])
    func unknownHolder(hasEnded: Bool) async throws {
        let ended = try await ChildProcess(["true"])
        try await ended.ending()
        let holder = hasEnded ? LinkHolder(processID: ended.processID, command: "true") : nil
        for seesAll in [false, true] {
            let clock = ManualClock()
            var opening = opening(holder: holder, commandWait: .seconds(4), clock)
            opening.seesAllPrograms = seesAll
            let failing = failure(opening)
            // If the programs of all users are visible, a holder that can't be found has ended. Other short commands
            // may follow it, so the wait for commands applies. Otherwise the holder may be another user's program.
            // The brief wait lasts for at least 1 s and 6 attempts: with these pauses until 1150 ms.
            await pass(seesAll && hasEnded ? .seconds(4) : .milliseconds(1150), clock)
            let error = await failing.value
            #expect(error?.code == .busy && error?.holder == holder)
        }
    }

    @Test("An unknown scheme is an invalid endpoint")
    func unknownScheme() async {
        let error = await #expect(throws: LinkError.self) {
            try await LinkOpening(of: .pump).link(to: Endpoint("carrier:pigeon"))
        }
        #expect(error?.code == .invalidEndpoint)
    }
}
