import BlueZ
import DeviceKit
import Transports

/// What family a BLE device is of, as far as its services tell.
enum FamilyFit: Hashable {
    /// None that is known.
    case none
    /// It offers the family's service, which others offer too: only its characteristics would tell.
    case perhaps(String)
    case sure(String)

    /// - Parameter characteristics: What the device was found to have when it was connected; empty where it was not.
    init(services: [BluetoothUUID], characteristics: Set<BluetoothUUID> = []) {
        for profile in GATTProfiles.families.all where profile.services.contains(where: services.contains) {
            guard let family = profile.families.first else { continue }
            guard let mark = profile.mark, !characteristics.contains(mark) else {
                self = .sure(family)
                return
            }
            if characteristics.isEmpty {
                self = .perhaps(family)
                return
            }
        }
        self = .none
    }

    /// The family that it is known to be of.
    var certain: String? {
        guard case .sure(let family) = self else { return nil }
        return family
    }

    /// The family that it may be of, where that is not certain.
    var possible: String? {
        guard case .perhaps(let family) = self else { return nil }
        return family
    }

    /// The family for people; with a question mark where it is not certain.
    var text: String? { certain ?? possible.map { "\($0)?" } }
}
