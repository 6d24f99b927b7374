import BlueZ
import DeviceKit
import Testing
import Transports

@Suite struct FamilyFitTests {
    private static let stormService: BluetoothUUID = "4FAFC201-1FB5-459E-8FCC-C5C9C331914B"

    @Test func `A service that only one family has determines the family`() {
        let fit = FamilyFit(services: ["937312E0-2354-11EB-9F10-FBC30A62CF38"])
        #expect(fit.certain == "led")
        #expect(fit.possible == [])
        #expect("\(fit)" == "led")
    }

    @Test(
        arguments: [
            (["180A", "FFE0"], "pump", "behind an HM-10"), (["FFE5"], "pump", "behind an HM-BT4502W"),
            (["49535343-FE7D-4AE5-8FA9-9FAFD205E455"], "pump", "behind a Microchip module"),
            (["6E400001-B5A3-F393-E0A9-E50E24DCCA9E"], "peer", "with Nordic's UART Service"),
            (["FFF0"], "rescue", "with the same service"),
        ] as [([BluetoothUUID], String, String)])
    func `A service of many devices only suggests a family`(services: [BluetoothUUID], family: String, others: String) {
        let fit = FamilyFit(services: services)
        #expect(fit.certain == nil)
        #expect(fit.possible == [family])
        #expect("\(fit)" == "\(family), or another device \(others)")
    }

    @Test func `An added family is equally possible, and a certain family comes first`() {
        var profiles = GATTProfiles.families
        profiles.add(.hm10, for: "scale")
        let fit = FamilyFit(services: ["FFE0"], among: profiles)
        #expect(fit.possible == ["pump", "scale"])
        #expect("\(fit)" == "pump or scale, or another device behind an HM-10")
        let led = FamilyFit(services: ["FFE0", "937312E0-2354-11EB-9F10-FBC30A62CF38"], among: profiles)
        #expect(led.certain == "led")
    }

    @Test func `Other services suggest no family`() {
        for services in [["180A"], []] as [[BluetoothUUID]] {
            let fit = FamilyFit(services: services)
            #expect(fit.families == [] && fit.certain == nil && fit.profile == nil)
            #expect("\(fit)" == "")
        }
        // The profiles of `.carriers` belong to no family.
        #expect(FamilyFit(services: ["FFE0"], among: .carriers).families == [])
    }

    @Test func `Only its mark, a characteristic that other devices lack, identifies a storm sensor for certain`() {
        let stock: BluetoothUUID = "BEB5483E-36E1-4688-B7F5-EA07361B26A8"
        let mark: BluetoothUUID = "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E"
        #expect(FamilyFit(services: [Self.stormService]).possible == ["storm"])
        #expect(FamilyFit(services: [Self.stormService], characteristics: [stock]).families == [])
        #expect(FamilyFit(services: [Self.stormService], characteristics: [stock, mark]).certain == "storm")
    }
}
