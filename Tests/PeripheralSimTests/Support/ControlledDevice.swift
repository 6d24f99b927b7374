import FirmwareSim
import PeripheralSim
import TestSupport

/// A device over BLE, wrapped in the faults that all devices share. Its time advances on demand only.
struct ControlledDevice<Device: SimulatedPeripheral> {
    let host: DeviceHost<FaultyDevice<Device>>
    private let notifications = Notifications()

    init(_ device: Device) async {
        host = DeviceHost(FaultyDevice(device), pace: .onDemand)
        await host.attach(notifications)
    }

    /// Performs a verb; returns the resulting notifications.
    func perform(_ words: String...) async throws -> [Emission] {
        try await host.handle.perform(words[0], Array(words.dropFirst()))
        return notifications.take()
    }

    /// Handles a central's event; returns the resulting notifications.
    func take(_ event: CentralEvent) async -> [Emission] {
        await host.change { $0.take(event, at: $1) }
        return notifications.take()
    }

    private final class Notifications: EmissionListener {
        private let emissions = Watched<[Emission]>([])
        var isFull: Bool { false }
        func hears(_ emission: Emission) -> Bool { true }

        func take(_ emissions: [Emission]) -> Int {
            self.emissions.update { $0 += emissions }
            return 0
        }

        func take() -> [Emission] {
            emissions.update { emissions in
                defer { emissions = [] }
                return emissions
            }
        }
    }
}
