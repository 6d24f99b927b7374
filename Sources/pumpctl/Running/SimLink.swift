import DescriptorIO
import DeviceKit
import FirmwareSim
import LineProtocol
import Transports

/// `sim:FAMILY`: a simulated device inside this program, for trying things out. It lasts as long as its link.
enum SimLink {
    static func open(_ endpoint: Endpoint, _ loop: EventLoop) async throws(LinkError) -> any Link {
        guard let row = FamilyRow.all.first(where: { $0.family.name == endpoint.address }) else {
            let all = FamilyRow.all.map { "sim:\($0.family)" }.joined(separator: ", ")
            throw endpoint.invalid("name one of: \(all)")
        }
        return try await row.simulate(endpoint, loop)
    }

    /// A link to `device`, which lives in real time, and waits for its reader where it has flow control.
    static func open(
        _ device: some SimulatedDevice, hasFlowControl: Bool = false, as endpoint: Endpoint, _ loop: EventLoop
    ) async throws(LinkError) -> any Link {
        let host = DeviceHost(
            device, pace: .realTime(EventLoopClock(loop)), hasFlowControl: hasFlowControl, on: loop)
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
