import DescriptorIO
import DeviceKit
import Glibc
import LineProtocol
import RecordFormat
import TestSupport
import Testing
import Transports

@Suite("How a program opens its links", .timeLimit(.minutes(5)))
struct LinkOpeningTests {
    /// A link whose device can be told from others, with something to say of how it was opened.
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

    @Test("What is to be known of opening it is told, and what goes over it where that is asked for")
    func trace() async throws {
        var opening = opening()
        try await link(opening).send(Array("A\n".utf8))
        #expect(told.state == ["bench:1: the phone listens too"])
        opening.isTraced = true
        try await link(opening).send(Array("B\n".utf8))
        #expect(told.state.dropFirst(2) == ["scripted: opened", "scripted: > B\\x0a"])
    }

    @Test("Only a link for watching is held, so that another program can ask for OFF")
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

    @Test("What goes over it is recorded, and what is wrong with the record is told")
    func recording() async throws {
        var opening = opening()
        let recording = SharedRecording(of: "pump", by: CompanionProgram(path: "/no/such/program"))
        opening.recording = recording
        try await link(opening).send(Array("A\n".utf8))
        await recording.end("closed")
        #expect(told.state.last == "scripted: system")
    }

    @Test("A scheme that there is not is no endpoint")
    func unknownScheme() async {
        let error = await #expect(throws: LinkError.self) {
            try await LinkOpening(of: .pump).link(to: Endpoint("carrier:pigeon"))
        }
        #expect(error?.code == .invalidEndpoint)
    }
}
