import TOMLReading

// DeviceKit has an error of this name too, of the files of pumpctl.
typealias ConfigurationError = TOMLReading.ConfigurationError
