import FirmwareSim
import Foundation
import LineProtocol
import TestSupport
import Testing
import Transports

@Suite("Bench: simulated rescue phone", .timeLimit(.minutes(15)))
struct RescueBenchTests {
    /// The time between two messages of a phone.
    private static let interval = Duration.seconds(1)

    /// The options of a phone with this number of messages.
    ///
    /// - Parameters:
    ///   - split: The most bytes that leave at once; nil for no limit.
    ///   - malformed: The percentage of messages that are preceded by something malformed.
    private static func phone(_ messages: Int, split: Int? = nil, malformed: Int = 0) -> RescueFirmwareOptions {
        RescueFirmwareOptions(
            carrier: .line(.unlimited), seed: 7, messages: messages, interval: interval, split: split,
            malformed: malformed)
    }

    /// The IDs of the phone's messages with these numbers.
    private static func stock(_ range: Range<Int>) -> [String] {
        range.map { PhoneStock(seed: 7).message($0).id.uuidString }
    }

    @Test(
        "All messages arrive, in any split and among malformed ones", arguments: DevicePlace.allCases,
        [nil, 1, 20])
    func arrive(place: DevicePlace, split: Int?) async throws {
        let device = try await place.phone(Self.phone(50, split: split, malformed: 30))
        let link = try await device.link()
        // The phone hands the client's message on to the client as well. From then on it knows the client.
        try await link.send(Array(PhoneStock(seed: 8).message(0).json))
        var arrivals = RescueArrivals(over: link).makeAsyncIterator()
        var ids: [String] = []
        while let some = try await arrivals.next() {
            let isFirst = ids.isEmpty
            for case .message(let message) in some { ids.append("\(message.id)") }
            if isFirst, !ids.isEmpty { await device.advance(by: Self.interval * 50) }
            if ids.count >= 51 { break }
        }
        #expect(ids == [PhoneStock(seed: 8).message(0).id.uuidString] + Self.stock(0..<50))
        await link.close()
        await device.stop()
    }

    @Test("A sent message is stored by the phone unchanged", arguments: DevicePlace.allCases)
    func sent(place: DevicePlace) async throws {
        let device = try await place.phone(Self.phone(0))
        let folder = TemporaryFolder()
        let ending = try await Self.pumpctl(
            folder, device, "rescue", "send", "--category", "Road Closure", "--at", "35.9,-79.05",
            "a \"tree\" \\ 🌊 \u{1B}[2J")
        #expect(ending.status == 0, "\(ending)")
        // pumpctl has ended, but the message may still be in the buffer of a port.
        try await device.untilItSpeaks(for: "a message") { phone in !phone.received.isEmpty }
        let received = await device.change { phone, _ in phone.received }
        #expect(received.map(\.content) == ["a \"tree\" \\ 🌊 \u{1B}[2J"])
        #expect(received.map(\.category) == ["Road Closure"])
        #expect(received.map(\.latitude) == [35.9])
        await device.stop()
    }

    @Test(
        "Messages received during sync are sent to the next phone",
        arguments: DevicePlace.allCases)
    func forwards(place: DevicePlace) async throws {
        let folder = TemporaryFolder()
        let first = try await place.phone(Self.phone(5, split: 20))
        let keeping = try await ChildProcess(
            [Executable.pumpctl, "rescue", "send", "--later", "--at", "1,2", "mine"],
            environment: Self.environment(folder)
        ).ending()
        try #require(keeping.status == 0, "\(keeping)")
        let program = try await ChildProcess(
            [Executable.pumpctl, "-p", first.endpoint, "-v", "rescue", "sync", "--for", "100s"],
            environment: Self.environment(folder, first))
        // The phone knows its client once it has received something.
        _ = try await program.errors.wait(for: "a message that is sent") { $0.text.contains("> {") ? true : nil }
        try await first.untilItSpeaks(for: "a message") { phone in !phone.received.isEmpty }
        await first.advance(by: Self.interval * 5)
        for _ in 0..<5 { _ = try await program.output.line("a message") }
        program.send(signal: SIGTERM)
        #expect(try await program.ending().status == 143)
        await first.stop()

        let second = try await place.phone(Self.phone(0))
        // The interrupted run did not mark its own message, "mine", as handed on, so it is sent again: 6 in all. A
        // second run has nothing left to hand on.
        for count in [6, 0] {
            let ending = try await Self.pumpctl(folder, second, "rescue", "sync")
            #expect(ending.output == "\(count.counted("message")) sent\n", "\(ending)")
        }
        let received = await second.change { phone, _ in phone.received }
        #expect(received.first?.content == "mine")
        #expect(received.dropFirst() == (0..<5).map { PhoneStock(seed: 7).message($0) }[...])
        await second.stop()
    }

    @Test("100,000 messages are exported in order with little more memory than 1,000")
    func many() async throws {
        let stock = (0..<100_000).map { PhoneStock(seed: 7).message($0) }
        var peaks: [Int] = []
        for messages in [stock.prefix(1000), stock[...]] {
            let folder = TemporaryFolder()
            let requests = messages.map { message in
                let json = String(decoding: message.json, as: UTF8.self)
                return "store\t\"\(message.id)\"\t\"Other\"\t0\tpending_sync\t\(json)\n"
            }
            let input = folder.write(requests.joined() + "commit\n", to: "requests")
            let keeping = try await ChildProcess(
                ["/bin/sh", "-c", "exec \(Executable.pumpctlRecord) write < \(input)"],
                environment: Self.environment(folder))
            let answers = try await keeping.ending(within: .seconds(600)).output.split(separator: "\n")
            #expect(answers.first == "committed\t\(String(repeating: "1", count: messages.count))")
            let path = folder.path("exported")
            peaks.append(
                try await MeasuredProgram.peak(
                    of: "rescue", "export", "--output", path, environment: Self.environment(folder)))
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            #expect(lines.map { String($0.dropFirst(7).prefix(36)) } == messages.map(\.id.uuidString))
        }
        // A program that kept all messages would need tens of thousands of kB more.
        #expect(peaks[1] < peaks[0] + 4096, "\(peaks) kB")
    }

    /// The environment in which programs keep their messages in `folder`, and find `device`.
    private static func environment(
        _ folder: TemporaryFolder, _ device: (any PlacedDevice<RescueFirmware>)? = nil
    ) -> [String: String] {
        var environment = ChildProcess.surroundings.merging(device?.environment ?? [:]) { $1 }
        environment["XDG_DATA_HOME"] = folder.path
        return environment
    }

    private static func pumpctl(
        _ folder: TemporaryFolder, _ device: any PlacedDevice<RescueFirmware>, _ arguments: String...
    ) async throws -> ChildProcess.Ending {
        try await ChildProcess(
            [Executable.pumpctl, "-p", device.endpoint] + arguments, environment: environment(folder, device)
        ).ending(within: .seconds(60))
    }
}
