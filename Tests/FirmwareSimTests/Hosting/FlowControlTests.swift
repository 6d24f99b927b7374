import DescriptorIO
import DeviceTestKit
import FirmwareSim
import TestSupport
import Testing

@Suite("Flow control", .timeLimit(.minutes(5)))
struct FlowControlTests {
    private let folder = TemporaryFolder()

    @Test("A device waits for a client that does not read, and loses nothing")
    func waits() async throws {
        let options = StormFirmwareOptions(lineRate: .unlimited, seed: 7, rows: 200_000)
        let host = DeviceHost(StormFirmware(options: options), pace: .onDemand, hasFlowControl: true)
        let address = SocketAddress.unix(path: folder.path("storm.sock"))
        let server = try await SocketServer.open(host, at: address)
        let client = try await DescriptorChannel.connect(to: address, deadline: .now + .seconds(60))
        try await client.write(Array("GET_LOG\n".utf8))
        await settle()
        #expect(await host.change { storm, _ in storm.isQuiescent } == false)
        let expected = Array("LOG Values: ".utf8) + StormLog(seed: 7).text(rows: 0..<200_000)
        var heard: [UInt8] = []
        while heard.count < expected.count, let bytes = try await client.read() { heard += bytes }
        #expect(heard == expected)
        await client.close()
        await server.close()
    }

    @Test("A device goes on after the client that blocked it has left")
    func goesOn() async throws {
        let options = StormFirmwareOptions(lineRate: .unlimited, seed: 7, rows: 200_000)
        let host = DeviceHost(StormFirmware(options: options), pace: .onDemand, hasFlowControl: true)
        let address = SocketAddress.unix(path: folder.path("storm.sock"))
        let server = try await SocketServer.open(host, at: address)
        let first = try await DescriptorChannel.connect(to: address, deadline: .now + .seconds(60))
        try await first.write(Array("GET_LOG\n".utf8))
        _ = try await first.read()
        await first.leave()
        let second = try await DescriptorChannel.connect(to: address, deadline: .now + .seconds(60))
        try await second.write(Array("GET_LOG\n".utf8))
        let end = StormLog(seed: 7).text(rows: 199_990..<200_000)
        var heard: [UInt8] = []
        while !heard.suffix(end.count).elementsEqual(end), let bytes = try await second.read() {
            heard = heard.suffix(end.count) + bytes
        }
        await second.close()
        await server.close()
    }
}
