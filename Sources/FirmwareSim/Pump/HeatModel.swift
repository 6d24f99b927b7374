/// A model of the temperatures at the two probes, in °C.
///
/// The model stands in for a person who wears the pump, but is not physiological: the skin drifts towards
/// ``bodyTemperature`` and is cooled in proportion to the flow and to how much colder the water is; the water takes up
/// heat from the skin and drifts towards ``roomTemperature``. The flow is the PWM duty as a fraction of 255.
public struct HeatModel: Sendable, Hashable {
    /// The temperature at which an uncooled skin settles, °C.
    public static let bodyTemperature = 36.0
    /// The temperature at which still water settles, °C.
    public static let roomTemperature = 22.0
    /// Seconds in which an uncooled skin covers 63 % of the way to body temperature.
    public static let skinWarmingTime = 300.0
    /// Seconds in which full flow would bring a skin that gets no heat 63 % of the way to the water's temperature.
    public static let skinCoolingTime = 600.0
    /// Seconds in which still water covers 63 % of the way to room temperature.
    public static let waterWarmingTime = 7200.0
    /// Seconds in which full flow would bring the water 63 % of the way to the skin's temperature.
    public static let waterUptakeTime = 3600.0

    /// Temperature of the water, °C.
    public internal(set) var water: Double
    /// Temperature of the skin, °C.
    public internal(set) var skin: Double
    private let isFixed: Bool

    /// Returns a model whose temperatures, in °C, start at these values and change with time.
    public static func moving(water: Double = 12, skin: Double = 34.5) -> HeatModel {
        HeatModel(water: water, skin: skin, isFixed: false)
    }

    /// Returns a model whose temperatures, in °C, stay at these values.
    public static func fixed(water: Double, skin: Double) -> HeatModel {
        HeatModel(water: water, skin: skin, isFixed: true)
    }

    /// Lets `time` pass with the pump at `duty`.
    mutating func advance(by time: Duration, duty: UInt8) {
        guard !isFixed else { return }
        let seconds = time / .seconds(1)
        let flow = Double(duty) / 255
        let uptake = flow * (skin - water)
        let intoSkin = (Self.bodyTemperature - skin) / Self.skinWarmingTime - uptake / Self.skinCoolingTime
        let intoWater = (Self.roomTemperature - water) / Self.waterWarmingTime + uptake / Self.waterUptakeTime
        skin += intoSkin * seconds
        water += intoWater * seconds
    }
}
