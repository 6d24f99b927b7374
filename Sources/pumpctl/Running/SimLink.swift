import DescriptorIO
import FirmwareSim
import LineProtocol
import Transports

/// `sim:FAMILY`: a simulated device inside this program, for trying things out. It lasts as long as its link.
enum SimLink {
    static func open(_ endpoint: Endpoint, _ loop: EventLoop) async throws(LinkError) -> any Link {
        guard endpoint.address == FamilyName.pump.rawValue else {
            throw endpoint.invalid("simulated here is: sim:pump")
        }
        try endpoint.allowOptions(["thermistors"])
        let thermistors = try endpoint.number("thermistors", in: 1...2) ?? 2
        let options = PumpFirmwareOptions(thermistors: thermistors == 1 ? .one : .two)
        let host = DeviceHost(PumpFirmware(options: options), pace: .realTime(EventLoopClock(loop)), on: loop)
        do {
            let (near, far) = try DescriptorChannel.pair(on: loop)
            let running = Task(executorPreference: loop) { try await host.run() }
            await host.attach(far) { running.cancel() }
            return DescriptorLink(near, name: endpoint.text)
        } catch {
            throw LinkError(.system, name: endpoint.text, activity: "open", detail: "\(error)")
        }
    }
}
